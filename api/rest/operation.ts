import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { ErrorCondition } from "../../lib/errors.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { fieldErrors } from "./field-errors.ts";
import { type Shape, urlErrors } from "./route.ts";
import type { Entry, Security } from "./security.ts";

export type OperationTag = "Developer API" | "Wallet session";

/** What an operation answers where it does not refuse. */
export type OperationAnswer =
  | { status: 200 | 201 | 202; record: object; headers?: Readonly<Record<string, string | string[]>> }
  | { status: 204; headers?: Readonly<Record<string, string | string[]>> }
  | Refusal;

/** What is published of an operation. */
export type OperationDescription = {
  method: "GET" | "POST" | "DELETE";
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
  /** A JSON object; undefined where none is read. */
  body: z.ZodType | undefined;
  /** By status; undefined has no body (204). */
  responses: Readonly<Partial<Record<200 | 201 | 202 | 204, z.ZodType | undefined>>>;
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
    readBody: () => { body: unknown } | Refusal;
    services: Services;
  }): Promise<OperationAnswer>;
};

type Input<Params extends Shape, Query extends Shape, Body extends z.ZodType, Caller, Services> = {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
  caller: Caller;
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
  cost = 1,
  problems = [],
  problemMembers = {},
  ...row
}: Omit<
  OperationDescription,
  "security" | "params" | "query" | "body" | "problems" | "problemMembers" | "cost"
> & {
  security: Security<Caller>;
  params: Params;
  query: Query;
  body: Body;
  problems?: readonly ErrorCondition[];
  problemMembers?: OperationDescription["problemMembers"];
  cost?: number;
  answer(input: Input<Params, Query, Body, Caller, Services>): OperationAnswer | Promise<OperationAnswer>;
}): Operation<Services> {
  const readsBody = !(row.body instanceof z.ZodUndefined);
  return {
    ...row,
    body: readsBody ? row.body : undefined,
    cost,
    problems,
    problemMembers,
    async carryOut({ entry, readBody, services }) {
      const caller = await row.security.enter(entry);
      if (isRefusal(caller)) return caller;
      const { request } = entry;
      const sent = readsBody ? readBody() : { body: undefined };
      if (isRefusal(sent)) return sent;
      const params = row.params.safeParse(request.params);
      const query = row.query.safeParse(request.query);
      const body = row.body.safeParse(sent.body);
      if (params.success && query.success && body.success) {
        return answer({
          params: params.data,
          query: query.data,
          body: body.data,
          caller,
          request,
          services,
        });
      }
      return refusal("invalid_params", "Something of the request cannot be used; see errors", {
        errors: [
          ...urlErrors({ params: params.error, query: query.error }),
          ...fieldErrors({ root: "", error: body.error, unknown: "There is no such field here" }),
        ],
      });
    },
  };
}
