import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableOutputType,
  GraphQLObjectType,
  GraphQLString,
} from "graphql";
import { z } from "zod";
import type { Page } from "../read/page.ts";
import { cursor, pageLimitDefault, pageLimitMax } from "../rest/parameters.ts";

/** Relay's cursor connections, forward only; the cursors are those of REST. */

const outOfBounds = `a number from 1 to ${pageLimitMax} was expected`;

export const pageArguments: GraphQLFieldConfigArgumentMap = {
  first: { type: GraphQLInt, defaultValue: pageLimitDefault, description: `1 to ${pageLimitMax}` },
  after: {
    type: GraphQLString,
    description: "The cursor of a row, such as `endCursor` of the page before: rows after it follow",
  },
};

/** What a client gave of them; null means the same as nothing. */
export const pageInput = z.object({
  first: z
    .int()
    .min(1, outOfBounds)
    .max(pageLimitMax, outOfBounds)
    .nullish()
    .transform((value) => value ?? pageLimitDefault),
  after: cursor.nullish().transform((value) => value ?? undefined),
});

const pageInfo = new GraphQLObjectType({
  name: "PageInfo",
  fields: {
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    hasPreviousPage: { type: new GraphQLNonNull(GraphQLBoolean) },
    startCursor: { type: GraphQLString },
    endCursor: { type: GraphQLString },
  },
});

export function connectionType(name: string, node: GraphQLNullableOutputType): GraphQLObjectType {
  const item = new GraphQLNonNull(node);
  const edge = new GraphQLObjectType({
    name: `${name}Edge`,
    fields: { node: { type: item }, cursor: { type: new GraphQLNonNull(GraphQLString) } },
  });
  return new GraphQLObjectType({
    name: `${name}Connection`,
    fields: {
      edges: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))) },
      nodes: { type: new GraphQLNonNull(new GraphQLList(item)) },
      pageInfo: { type: new GraphQLNonNull(pageInfo) },
      indexedBlock: { type: GraphQLInt, description: "Up to which block the list is complete" },
    },
  });
}

/** A page of a list as a connection. */
export function connectionOf<Row>(
  { data, cursors, nextCursor, indexedBlock }: Page<Row>,
  { after }: { after: string | undefined },
) {
  return {
    edges: data.map((node, index) => ({ node, cursor: cursors[index] })),
    nodes: data,
    pageInfo: {
      hasNextPage: nextCursor !== null,
      hasPreviousPage: after !== undefined,
      startCursor: cursors[0] ?? null,
      endCursor: cursors.at(-1) ?? null,
    },
    indexedBlock,
  };
}
