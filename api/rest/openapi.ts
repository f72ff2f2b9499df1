import { z } from "zod";
import type { ErrorCondition } from "../../lib/errors.ts";
import { problemSchema, problemsOf } from "./openapi-problems.ts";
import { componentSchemas, schemaOf } from "./openapi-schemas.ts";
import type { OperationDescription, TextResponse } from "./operation.ts";
import type { RouteDescription } from "./route.ts";
import { securitySchemes } from "./security.ts";

/** What everything can refuse. */
const everyProblem: readonly ErrorCondition[] = [
  "invalid_params",
  "not_acceptable",
  "uri_too_long",
  "rate_limited",
  "internal_error",
  "upstream_unavailable",
];
const bodyProblems: readonly ErrorCondition[] = ["parse_error", "body_too_large", "unsupported_media_type"];
const sessionProblems: readonly ErrorCondition[] = ["session_required", "forbidden"];
const keyProblems: readonly ErrorCondition[] = [
  "api_key_missing",
  "api_key_invalid",
  "api_key_expired",
  "api_key_revoked",
  "insufficient_scope",
];

/**
 * The OpenAPI 3.1 description of the tables of routes and operations. Records come from their zod schemas, each once, by the id in its
 * meta; problem documents from the error table.
 */
export function openApiOf({
  routes,
  operations,
  version,
  servers,
}: {
  routes: readonly RouteDescription[];
  operations: readonly OperationDescription[];
  version: string;
  servers: readonly string[];
}): object {
  const published = [
    ...routes.flatMap(({ response }) => ("mediaType" in response ? [] : [response])),
    ...operations.flatMap(({ responses, problemMembers }) =>
      [...Object.values(responses), ...Object.values(problemMembers)].flatMap((schema) =>
        schema === undefined || "mediaType" in schema ? [] : [schema],
      ),
    ),
  ];
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
    tags: tagsOf([...routes, ...operations]),
    paths: pathsOf(routes, operations),
    components: {
      schemas: { ...componentSchemas(published), Problem: problemSchema },
      headers: rateLimitHeaders,
      securitySchemes,
    },
  };
}

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
  "Wallet session": "For the owner of a wallet who has signed in: keys, orders",
};

function tagsOf(rows: readonly { tag: string }[]) {
  const used = [...new Set(rows.map(({ tag }) => tag))];
  return used.map((name) => ({ name, description: tagDescriptions[name] ?? name }));
}

function pathsOf(routes: readonly RouteDescription[], operations: readonly OperationDescription[]) {
  const paths: Record<string, Record<string, object>> = {};
  for (const row of routes) paths[row.path] = { get: routeOf(row) };
  for (const row of operations) {
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operationOf(row) };
  }
  return paths;
}

function operationOf(row: OperationDescription) {
  const { operationId, tag, summary, description, security, body, responses, problems, cost } = row;
  const scope = security.scope === undefined ? "" : ` Needs the scope \`${security.scope}\`.`;
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${description ?? `${summary}.`}${scope} Costs ${cost} of the limit.`,
    security: security.schemes.map((name) => ({ [name]: [] })),
    parameters: [
      ...parametersOf(row.params, "path"),
      ...parametersOf(row.query, "query"),
      ...parametersOf(z.object(row.headers), "header"),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemaOf(body, "input") } },
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, schema]) => [
          status,
          answerOf(Number(status), schema, row.eventStream),
        ]),
      ),
      ...problemsOf(
        [
          ...everyProblem,
          ...(body === undefined ? [] : bodyProblems),
          ...(security.schemes.length === 0
            ? []
            : security.scope === undefined
              ? sessionProblems
              : keyProblems),
          ...problems,
        ],
        row.problemMembers,
      ),
    },
  };
}

function answerOf(
  status: number,
  schema: z.ZodType | TextResponse | undefined,
  eventStream: string | undefined,
) {
  const description = status === 204 ? "Done; there is no body" : status === 201 ? "Made" : "The answer";
  const content = schema === undefined ? {} : { content: { ...contentOf(schema), ...streamOf(eventStream) } };
  return { description, headers: rateLimitReferences, ...content };
}

function routeOf(row: RouteDescription) {
  const { operationId, tag, summary, response, problems } = row;
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${summary}. Costs ${row.cost} of the limit.`,
    parameters: [...parametersOf(row.params, "path"), ...parametersOf(row.query, "query")],
    responses: {
      "200": {
        description: "The answer",
        headers: { ...answerHeaders, ...rateLimitReferences },
        content: contentOf(response),
      },
      "304": { description: "The copy that the client has is still right" },
      ...problemsOf([...everyProblem, ...problems]),
    },
  };
}

function contentOf(response: z.ZodType | TextResponse) {
  return "mediaType" in response
    ? { [response.mediaType]: { schema: { type: "string", description: response.description } } }
    : { "application/json": { schema: schemaOf(response) } };
}

function streamOf(description: string | undefined) {
  return description === undefined
    ? {}
    : { "text/event-stream": { schema: { type: "string", description } } };
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

function parametersOf(shape: z.ZodObject, place: "path" | "query" | "header"): object[] {
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
