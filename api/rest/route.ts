import type { z } from "zod";
import type { ErrorCondition } from "../../lib/errors.ts";
import type { FieldError } from "../../lib/http-service/problem.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { Page } from "../read/page.ts";
import type { ReadModel } from "../read/read-model.ts";
import { fieldErrors } from "./field-errors.ts";

/**
 * How long an answer may be kept.
 * - `immutable`: a block that the chain has; kept for a year, except on a development chain, where numbers come again
 * - `mined`: a mined transaction; names and decoding may still grow, so it is asked for again after a minute
 * - `consensus`: who sealed a block; the seals of young ones still come in
 * - `head`: true for the newest block only
 * - `release`: a description that changes with a release
 */
export type CacheRule = "immutable" | "mined" | "consensus" | "head" | "release";

/** What a route answers: a record with how long it is true, a text of another type, or a refusal. */
export type RouteAnswer =
  | { record: object; cache: CacheRule }
  | { text: string; type: string; cache: CacheRule; fileName?: string; status?: number; location?: string }
  | Refusal;

export type RouteTag =
  | "Chain"
  | "Blocks"
  | "Transactions"
  | "Accounts"
  | "Tokens"
  | "Validators"
  | "Fees"
  | "Search"
  | "Statistics"
  | "Description";

/** A page of a list, or why there is none. It is true for the newest block only. */
export function pageAnswer(page: Page<unknown> | Refusal): RouteAnswer {
  if (isRefusal(page)) return page;
  const { data, nextCursor, indexedBlock } = page;
  return { record: { data, nextCursor, indexedBlock }, cache: "head" };
}

export type Shape = z.ZodObject;

/** What is published of a route. */
export type RouteDescription = {
  /** With OpenAPI's braces, from the root: `/api/v1/blocks/{number}`. */
  path: string;
  operationId: string;
  tag: RouteTag;
  summary: string;
  params: Shape;
  query: Shape;
  /** What 200 has: a JSON record, or a text of a media type. */
  response: z.ZodType | { mediaType: string; description: string };
  /** What it refuses beyond what every route refuses. */
  problems: readonly ErrorCondition[];
  /** Points of the limit that a request costs. */
  cost: number;
};

/** A row of the table from which routing, validation, OpenAPI and the reference page are made. */
export type Route = RouteDescription & {
  /** Parameters and query as the URL has them: texts. */
  answer(raw: { params: unknown; query: unknown; read: ReadModel }): RouteAnswer | Promise<RouteAnswer>;
};

/** Makes a row: the parameters are parsed once, here, and reach `answer` as typed values. */
export function route<Params extends Shape, Query extends Shape>({
  answer,
  cost = 1,
  problems = [],
  ...description
}: Omit<RouteDescription, "params" | "query" | "cost" | "problems"> & {
  params: Params;
  query: Query;
  cost?: number;
  problems?: readonly ErrorCondition[];
  answer(input: {
    params: z.output<Params>;
    query: z.output<Query>;
    read: ReadModel;
  }): RouteAnswer | Promise<RouteAnswer>;
}): Route {
  const { params, query } = description;
  return {
    ...description,
    cost,
    problems,
    answer(raw) {
      const parsedParams = params.safeParse(raw.params);
      const parsedQuery = query.safeParse(raw.query);
      if (parsedParams.success && parsedQuery.success) {
        return answer({ params: parsedParams.data, query: parsedQuery.data, read: raw.read });
      }
      return refusal("invalid_params", "A parameter cannot be used; see errors", {
        errors: urlErrors({ params: parsedParams.error, query: parsedQuery.error }),
      });
    },
  };
}

/** What is wrong with a URL's parameters. */
export function urlErrors({
  params,
  query,
}: {
  params: z.ZodError | undefined;
  query: z.ZodError | undefined;
}): FieldError[] {
  const unknown = "There is no such parameter here";
  return [
    ...fieldErrors({ root: "#/path", error: params, unknown }),
    ...fieldErrors({ root: "#/query", error: query, unknown }),
  ];
}
