import {
  GraphQLError,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLNonNull,
  type GraphQLObjectType,
} from "graphql";
import type { z } from "zod";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import type { Page, PageQuery } from "../read/page.ts";
import type { ReadModel } from "../read/read-model.ts";
import { connectionOf, pageArguments, pageInput } from "./connection.ts";
import type { GraphqlContext } from "./context.ts";
import { calls } from "./limit-cost.ts";

export type Field = GraphQLFieldConfig<unknown, GraphqlContext>;

/** A record that needs no argument. */
export function whole(
  name: string,
  type: GraphQLObjectType,
  cost: number,
  resolve: (read: ReadModel) => Promise<unknown>,
): Field {
  return {
    ...calls(cost),
    type: new GraphQLNonNull(type),
    resolve: (_source, _given, { read, memo }) => memo.get(name, () => resolve(read)),
  };
}

/** A list, page by page. */
export function list<Row>({
  type,
  args = {},
  read,
}: {
  type: GraphQLObjectType;
  args?: GraphQLFieldConfigArgumentMap;
  read: (
    context: GraphqlContext,
    asked: { source: unknown; given: unknown; page: PageQuery },
  ) => Promise<Page<Row> | Refusal>;
}): Field {
  return {
    type: new GraphQLNonNull(type),
    args: { ...args, ...pageArguments },
    async resolve(source, given, context) {
      const { first, after } = parsed(pageInput, given);
      const page = await read(context, { source, given, page: { limit: first, cursor: after } });
      if (isRefusal(page)) throw new GraphQLError(page.errors?.[0]?.message ?? page.detail);
      return connectionOf(page, { after });
    },
  };
}

/** What a client gave, checked; its mistake is told to it. */
export function parsed<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const found = schema.safeParse(given);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new GraphQLError(
    `${issue?.path.join(".") ?? "An argument"}: ${issue?.message ?? "it cannot be used"}`,
  );
}
