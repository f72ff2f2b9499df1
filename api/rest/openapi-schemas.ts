import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/** The schemas that the published records name, each once, by the id in its meta. */
export function componentSchemas(published: readonly z.ZodType[]): Record<string, JsonSchema> {
  const components = z.toJSONSchema(registryOf(published), {
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => plain(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(components.schemas).flatMap(([name, schema]) =>
      name === sharedByZod ? [] : [[name, withoutRecursion(withoutHeader(schema))]],
    ),
  );
}

/** A schema, or the name under which it is published. */
export function schemaOf(schema: z.core.$ZodType, io: "input" | "output" = "output"): JsonSchema {
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (id !== undefined && io === "output") return { $ref: `#/components/schemas/${id}` };
  const made = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => plain(jsonSchema),
    unrepresentable: "any",
  });
  return withoutHeader(made);
}

/** All schemas with an id that the answers name. */
function registryOf(published: readonly z.ZodType[]) {
  const registry = z.registry<{ id: string }>();
  for (const schema of published) collect(schema, registry, new Set());
  return registry;
}

function collect(
  schema: z.core.$ZodType,
  registry: z.core.$ZodRegistry<{ id: string }>,
  seen: Set<z.core.$ZodType>,
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (id !== undefined && !registry.has(schema)) registry.add(schema, { id });
  if (schema instanceof z.ZodObject)
    for (const part of Object.values(schema.shape)) collect(part, registry, seen);
  else if (schema instanceof z.ZodArray) collect(schema.element, registry, seen);
  else if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    collect(schema.unwrap(), registry, seen);
}

/** A text that has to be a number is told as one. zod's own patterns for times are 300 characters long, and its integers are bounded by 2^53 both ways. */
function plain(schema: JsonSchema): void {
  if (schema["format"] === "date-time" || schema["format"] === "date") delete schema["pattern"];
  if (schema["type"] === "integer") delete schema["pattern"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
}

/** Where zod puts what refers to itself. Of our records that is any JSON alone, which is no restriction. */
const sharedByZod = "__shared";

function withoutRecursion(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "$ref" && String(value).includes(sharedByZod) ? undefined : value,
  );
}

function withoutHeader(schema: object): JsonSchema {
  const { $schema, $id, id, "~standard": standard, ...rest }: JsonSchema = { ...schema };
  return rest;
}
