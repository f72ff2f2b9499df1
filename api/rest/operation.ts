import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { ErrorCondition } from "../../lib/errors.ts";
import type { FieldError } from "../../lib/http-service/problem.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { EventStream } from "../live/open-event-stream.ts";
import { fieldErrors } from "./field-errors.ts";
import { type Shape, urlErrors } from "./route.ts";
import type { Entry, Security } from "./security.ts";

export type OperationTag = "Developer API" | "Wallet session";

/** What an operation answers where it does not refuse. */
export type OperationAnswer =
  | { status: 200 | 201 | 202; record: object; headers?: Readonly<Record<string, string | string[]>> }
  | { status: 200; text: string; type: string; fileName: string; headers?: undefined }
  | { status: 200; stream: EventStream; headers?: undefined }
  | { status: 204; headers?: Readonly<Record<string, string | string[]>> }
  | Refusal;

/** Fields of the request that it reads, by their names as they are published. */
export type HeaderFields = Readonly<Record<string, z.ZodType<string | undefined>>>;

/** An answer that is no JSON. */
export type TextResponse = { mediaType: string; description: string };
type Response = z.ZodType | TextResponse | undefined;

/** What is published of an operation. */
export type OperationDescription = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** With OpenAPI's braces, from the root: `/api/v1/svc-dev/orders/{id}`. */
  path: string;
  operationId: string;
  tag: OperationTag;
  summary: string;
  /** More than one sentence can say. */
  description?: string;
  security: Pick<Security<object>, "schemes" | "scope">;
  params: Shape;
  query: Shape;
  headers: HeaderFields;
  /** A JSON object; undefined where none is read. */
  body: z.ZodType | undefined;
  /** By status; undefined has no body (204). */
  responses: Readonly<Partial<Record<200 | 201 | 202 | 204, Response>>>;
  /** What is in the stream of server-sent events that it answers instead, to who prefers that. */
  eventStream?: string;
  /** What it refuses beyond what every operation of its kind refuses. */
  problems: readonly ErrorCondition[];
  /** What the problem documents of a condition have beyond their own members. */
  problemMembers: Readonly<Partial<Record<ErrorCondition, z.ZodObject>>>;
  /** Points of the limit that a request costs. */
  cost: number;
};

/** A row of the table of operations: what changes something, or is for somebody known. None of it is kept in a cache. */
export type Operation<Services> = OperationDescription & {
  /** Lets the request in, reads it and carries it out. `readBody` is asked only where the row has a body. */
  carryOut(given: {
    entry: Entry;
    /** Whether the client prefers a stream of events, and the row has one. */
    wantsStream: boolean;
    readBody: () => { body: unknown } | Refusal;
    services: Services;
  }): Promise<OperationAnswer>;
};

type Input<Params extends Shape, Query extends Shape, Body extends z.ZodType, Caller, Services> = {
  params: z.output<Params>;
  query: z.output<Query>;
  /** Those that the row names. */
  headers: Readonly<Record<string, string | undefined>>;
  body: z.output<Body>;
  caller: Caller;
  /** Who wants a stream of events; undefined where the answer is a record. */
  listener: { address: string } | undefined;
  /** For what no schema reads: cookies, Origin, User-Agent. */
  request: FastifyRequest;
  services: Services;
};

/** For an operation that reads no body. */
export const noBody = z.undefined();

/**
 * Makes a row. Who asks is looked at before what is asked, so that a stranger learns nothing of a body's rules by trying;
 * then parameters and body are parsed once, here, and reach `answer` as typed values. The list that it stands in says what
 * `services` are: `const sessionOperations: Operation<SessionServices>[] = [operation({ … })]`.
 */
export function operation<
  Services,
  Caller extends object,
  Params extends Shape,
  Query extends Shape,
  Body extends z.ZodType,
>({
  answer,
  headers = {},
  cost = 1,
  problems = [],
  problemMembers = {},
  ...row
}: Omit<
  OperationDescription,
  "security" | "params" | "query" | "headers" | "body" | "problems" | "problemMembers" | "cost"
> & {
  security: Security<Caller>;
  params: Params;
  query: Query;
  headers?: HeaderFields;
  body: Body;
  problems?: readonly ErrorCondition[];
  problemMembers?: OperationDescription["problemMembers"];
  cost?: number;
  answer(input: Input<Params, Query, Body, Caller, Services>): OperationAnswer | Promise<OperationAnswer>;
}): Operation<Services> {
  const readsBody = !(row.body instanceof z.ZodUndefined);
  return {
    ...row,
    headers,
    body: readsBody ? row.body : undefined,
    cost,
    problems,
    problemMembers,
    async carryOut({ entry, wantsStream, readBody, services }) {
      const caller = await row.security.enter(entry);
      if (isRefusal(caller)) return caller;
      const { request } = entry;
      const sent = readsBody ? readBody() : { body: undefined };
      if (isRefusal(sent)) return sent;
      const params = row.params.safeParse(request.params);
      const query = row.query.safeParse(request.query);
      const body = row.body.safeParse(sent.body);
      const fields = readFields(headers, request);
      if (params.success && query.success && body.success && fields.errors.length === 0) {
        return answer({
          params: params.data,
          query: query.data,
          headers: fields.values,
          body: body.data,
          caller,
          listener: wantsStream ? { address: entry.doors.addressOf(request) } : undefined,
          request,
          services,
        });
      }
      return refusal("invalid_params", "Something of the request cannot be used; see errors", {
        errors: [
          ...urlErrors({ params: params.error, query: query.error }),
          ...fields.errors,
          ...fieldErrors({ root: "", error: body.error, unknown: "There is no such field here" }),
        ],
      });
    },
  };
}

/** A field that was sent more than once is refused: proxies and we might take another one of them. */
function readFields(
  headers: HeaderFields,
  { raw: { headersDistinct } }: FastifyRequest,
): { values: Record<string, string | undefined>; errors: FieldError[] } {
  const values: Record<string, string | undefined> = {};
  const errors: FieldError[] = [];
  for (const [name, schema] of Object.entries(headers)) {
    const [value, ...others] = headersDistinct[name.toLowerCase()] ?? [];
    const read = schema.safeParse(value);
    const pointer = `#/header/${name}`;
    if (others.length > 0) errors.push({ pointer, message: "It was sent more than once" });
    else if (read.success) values[name] = read.data;
    else errors.push(...read.error.issues.map(({ message }) => ({ pointer, message })));
  }
  return { values, errors };
}
