import { z } from "zod";
import { type ErrorCondition, errorTable } from "../../lib/errors.ts";
import type { Route, RouteDescription } from "./route.ts";

/** What every route can refuse. */
const everyProblem: readonly ErrorCondition[] = [
  "invalid_params",
  "not_acceptable",
  "uri_too_long",
  "rate_limited",
  "internal_error",
  "upstream_unavailable",
];

type JsonSchema = Record<string, unknown>;

/**
 * The OpenAPI 3.1 description of a table of routes. Records come from their zod schemas, each once, by the id in its
 * meta; problem documents from the error table.
 */
export function openApiOf({
  routes,
  version,
  servers,
}: {
  routes: readonly Route[];
  version: string;
  servers: readonly string[];
}): object {
  const components = z.toJSONSchema(registryOf(routes), {
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => plain(jsonSchema),
  });
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).flatMap(([name, schema]) =>
      name === sharedByZod ? [] : [[name, withoutRecursion(withoutHeader(schema))]],
    ),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "Tollgate API",
      version,
      description:
        "What the network's chain holds: blocks, transactions, accounts, validators, fees. Large integers are decimal texts, times are there twice.",
      license: { name: "All rights reserved", identifier: "LicenseRef-Proprietary" },
      contact: { name: "Tollgate" },
    },
    servers: servers.map((url) => ({ url })),
    security: [],
    tags: tagsOf(routes),
    paths: pathsOf(routes),
    components: {
      schemas: { ...schemas, Problem: problemSchema },
      headers: rateLimitHeaders,
      securitySchemes: keySchemes,
    },
  };
}

/** The three ways to send a key to the developer API. */
const keySchemes = {
  svcDevKey: { type: "apiKey", in: "header", name: "X-Svc-Dev-Key" },
  bearer: { type: "http", scheme: "bearer" },
  apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" },
};

const tagDescriptions: Readonly<Record<string, string>> = {
  Chain: "The chain as a whole, and the network's contracts",
  Blocks: "Blocks and who sealed them",
  Transactions: "Transactions and their receipts",
  Accounts: "Balances and histories",
  Tokens: "Transfers of tokens",
  Validators: "Who validates, and how well",
  Fees: "Fees that were burned",
  Search: "One box for all",
  Statistics: "The newest blocks in numbers",
  Description: "This description and the GraphQL schema",
  "Developer API": "For machines with a prepaid key",
};

function tagsOf(routes: readonly Route[]) {
  const used = [...new Set(routes.map(({ tag }) => tag)), "Developer API"];
  return used.map((name) => ({ name, description: tagDescriptions[name] ?? name }));
}

function pathsOf(routes: readonly Route[]) {
  return Object.fromEntries(routes.map((row) => [row.path, { get: operationOf(row) }]));
}

function operationOf(row: RouteDescription) {
  const { operationId, tag, summary, response, problems } = row;
  const content =
    "mediaType" in response
      ? { [response.mediaType]: { schema: { type: "string", description: response.description } } }
      : { "application/json": { schema: schemaOf(response) } };
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${summary}. Costs ${row.cost} of the limit.`,
    parameters: [...parametersOf(row.params, "path"), ...parametersOf(row.query, "query")],
    responses: {
      "200": { description: "The answer", headers: { ...answerHeaders, ...rateLimitReferences }, content },
      "304": { description: "The copy that the client has is still right" },
      ...problemsOf([...everyProblem, ...problems]),
    },
  };
}

const answerHeaders = {
  ETag: { description: "A strong validator (RFC 9110)", schema: { type: "string" } },
  "Cache-Control": { description: "How long it may be kept", schema: { type: "string" } },
};
const rateLimitHeaders = {
  RateLimit: { description: "What is left of the limit", schema: { type: "string" } },
  RateLimitPolicy: { description: "The limit", schema: { type: "string" } },
};
const rateLimitReferences = {
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
};

function parametersOf(shape: z.ZodObject, place: "path" | "query"): object[] {
  return Object.entries(shape.shape).map(([name, schema]) => {
    const { description, examples } = z.globalRegistry.get(schema) ?? {};
    const [example] = Array.isArray(examples) ? examples : [];
    return {
      name,
      in: place,
      required: place === "path" || !schema.safeParse(undefined).success,
      description: description ?? name,
      schema: schemaOf(schema, "input"),
      ...(example === undefined ? {} : { example }),
    };
  });
}

function schemaOf(schema: z.core.$ZodType, io: "input" | "output" = "output"): JsonSchema {
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (id !== undefined && io === "output") return { $ref: `#/components/schemas/${id}` };
  const made = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => plain(jsonSchema),
    unrepresentable: "any",
  });
  return withoutHeader(made);
}

/** All schemas with an id that the routes' answers name. */
function registryOf(routes: readonly Route[]) {
  const registry = z.registry<{ id: string }>();
  for (const { response } of routes) {
    if ("mediaType" in response) continue;
    collect(response, registry, new Set());
  }
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

function problemsOf(conditions: readonly ErrorCondition[]) {
  const byStatus = Map.groupBy([...new Set(conditions)], (condition) => errorTable[condition].status);
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => {
      const codes = [...new Set(found.map((condition) => errorTable[condition].code))];
      const [first] = found;
      const meaning = first === undefined ? "" : errorTable[first].meaning;
      const description = `${meaning} (${codes.map((code) => `\`${code}\``).join(", ")})`;
      return [
        String(status),
        {
          description,
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      ];
    }),
  );
}

const problemSchema = {
  type: "object",
  description: "RFC 9457",
  required: ["type", "title", "status", "detail", "code", "requestId"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", enum: [...new Set(Object.values(errorTable).map(({ code }) => code))].sort() },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["pointer", "message"],
        properties: { pointer: { type: "string" }, message: { type: "string" } },
      },
    },
  },
};
