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
import type { Page } from "../read/page.ts";
import { pageLimitDefault, pageLimitMax } from "../rest/parameters.ts";

/** Relay's cursor connections, forward only; the cursors are those of REST. */

export const pageArguments: GraphQLFieldConfigArgumentMap = {
  first: { type: GraphQLInt, defaultValue: pageLimitDefault, description: `1 to ${pageLimitMax}` },
  after: { type: GraphQLString, description: "`endCursor` of the page before" },
};

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
    fields: { node: { type: item }, cursor: { type: GraphQLString } },
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
  { data, nextCursor, indexedBlock }: Page<Row>,
  { after }: { after?: string | null | undefined },
) {
  return {
    // Only the page's end has a cursor: REST's cursors say where a page ends.
    edges: data.map((node, index) => ({ node, cursor: index === data.length - 1 ? nextCursor : null })),
    nodes: data,
    pageInfo: {
      hasNextPage: nextCursor !== null,
      hasPreviousPage: after !== undefined && after !== null,
      startCursor: null,
      endCursor: nextCursor,
    },
    indexedBlock,
  };
}
