import { GraphQLSchema } from "graphql";
import { queryType } from "./query-type.ts";
import { recordFields } from "./record-fields.ts";
import { createSchemaTypes } from "./schema-types.ts";

/** The schema, over the same read model as REST. Fields of a type are those of its record, and the lists that belong to it. */
export function createSchema(): GraphQLSchema {
  // Types name each other in a circle: their fields are asked for when all of them are there.
  const types = createSchemaTypes({ extraFields: () => fields });
  const fields = recordFields(types);
  return new GraphQLSchema({ query: queryType(types) });
}
