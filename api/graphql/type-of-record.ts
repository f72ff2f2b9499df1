import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableOutputType,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
} from "graphql";
import { z } from "zod";
import { scalars } from "./scalars.ts";

type Fields<Context> = Record<string, GraphQLFieldConfig<unknown, Context>>;

/** Fields that a type has beyond its record, or in place of one of its fields, by the type's name. */
export type ExtraFields<Context> = Readonly<Record<string, Fields<Context>>>;

/** Fields of a record that have another name in GraphQL, because a list has theirs: type, field, name. */
export type RenamedFields = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Makes GraphQL's types from the records' zod schemas, so that REST and GraphQL have the same fields by construction. A
 * type has its schema's id as its name; an object without one is named by where it stands.
 */
export function createTypes<Context>({
  extraFields,
  renamedFields,
}: {
  /** Asked for when all types are there. */
  extraFields: () => ExtraFields<Context>;
  renamedFields: RenamedFields;
}) {
  const objects = new Map<string, { schema: z.ZodObject; type: GraphQLObjectType<unknown, Context> }>();
  const enums = new Map<string, GraphQLEnumType>();

  function outputOf(schema: z.core.$ZodType, place: string): GraphQLOutputType {
    if (schema instanceof z.ZodNullable) return bare(schema.unwrap(), place);
    return new GraphQLNonNull(bare(schema, place));
  }

  /** The type where null is allowed. */
  function bare(schema: z.core.$ZodType, place: string): GraphQLNullableOutputType {
    const { id } = z.globalRegistry.get(schema) ?? {};
    if (schema instanceof z.ZodObject) return objectOf(schema, id ?? place);
    if (schema instanceof z.ZodArray) return new GraphQLList(outputOf(schema.element, place));
    if (schema instanceof z.ZodEnum) return enumOf(schema, place);
    if (id === "Hash" || id === "Address" || id === "Bytes" || id === "Amount") return scalars[id];
    if (schema instanceof z.ZodISODateTime) return scalars.DateTime;
    if (schema instanceof z.ZodISODate) return scalars.Date;
    if (schema instanceof z.ZodString) return GraphQLString;
    if (schema instanceof z.ZodBoolean) return GraphQLBoolean;
    if (schema instanceof z.ZodNumber) {
      if (!schema.isInt) return GraphQLFloat;
      return place.endsWith("TimestampUnix") ? scalars.UnixTime : GraphQLInt;
    }
    if (schema instanceof z.ZodLazy) return scalars.JSON;
    throw new Error(`${place} is of a kind that has no type in GraphQL`);
  }

  function objectOf(schema: z.ZodObject, name: string): GraphQLObjectType<unknown, Context> {
    const known = objects.get(name);
    if (known?.schema === schema) return known.type;
    if (known !== undefined) throw new Error(`two records would be called ${name}`);
    const { description } = z.globalRegistry.get(schema) ?? {};
    const type = new GraphQLObjectType<unknown, Context>({
      name,
      ...(description === undefined ? {} : { description }),
      fields: () => ({ ...ownFields(schema, name), ...extraFields()[name] }),
    });
    objects.set(name, { schema, type });
    return type;
  }

  function ownFields(schema: z.ZodObject, name: string): Fields<Context> {
    return Object.fromEntries(
      Object.entries(schema.shape).map(([key, part]) => {
        const { description } = z.globalRegistry.get(part) ?? {};
        const type = outputOf(part, `${name}${capital(key)}`);
        const renamed = renamedFields[name]?.[key];
        const field = {
          type,
          ...(description === undefined ? {} : { description }),
          ...(renamed === undefined ? {} : { resolve: (source: unknown) => fieldValue(source, key) }),
        };
        return [renamed ?? key, field];
      }),
    );
  }

  function enumOf(schema: z.ZodEnum, name: string): GraphQLEnumType {
    const known = enums.get(name);
    if (known !== undefined) return known;
    const values = schema.options.map((option) => [String(option), { value: option }] as const);
    const type = new GraphQLEnumType({ name, values: Object.fromEntries(values) });
    enums.set(name, type);
    return type;
  }

  return {
    /** The type of a record that has an id. */
    of(schema: z.ZodObject): GraphQLObjectType<unknown, Context> {
      const { id } = z.globalRegistry.get(schema) ?? {};
      if (id === undefined) throw new Error("only a record with an id has a type of its own");
      return objectOf(schema, id);
    },
  };
}

function fieldValue(source: unknown, key: string): unknown {
  return typeof source === "object" && source !== null ? Reflect.get(source, key) : undefined;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
