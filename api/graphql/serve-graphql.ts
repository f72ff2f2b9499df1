import type { FastifyInstance } from "fastify";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { createHandler } from "graphql-http";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { isRefusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import type { ReadModel } from "../read/read-model.ts";
import type { Charge } from "../rest/charge.ts";
import { costLimits, costOf, limitCost } from "./limit-cost.ts";
import { createContext, type GraphqlContext } from "./schema.ts";

/** A document that was parsed and found valid, or what is wrong with it. */
type Checked = { document: DocumentNode; errors: readonly GraphQLError[] };

const documentsMax = 500;
/** Points of the limit: one, and one more for so much of a query's cost. */
const costPerPoint = 500;
const unavailable = "The chain or its index cannot be asked at the moment";

/**
 * GraphQL over HTTP (its working draft, which graphql-http follows): POST with JSON, GET with a query. Documents that
 * were checked are kept by their text. What a client is told of an error that is not its own is one sentence.
 */
export function serveGraphql(
  app: FastifyInstance,
  {
    schema,
    read,
    charge,
    isExpected,
    logger,
  }: {
    schema: GraphQLSchema;
    read: ReadModel;
    charge: Charge;
    /** Whether an error tells of a chain or database that is away. */
    isExpected: (error: unknown) => boolean;
    logger: Pick<Logger, "error">;
  },
): void {
  const checked = new LRUCache<string, Checked>({ max: documentsMax });

  /** The limit first: the other rules' work grows with what it refuses. */
  function errorsIn(document: DocumentNode): readonly GraphQLError[] {
    const tooCostly = validate(schema, document, [limitCost]);
    return tooCostly.length > 0 ? tooCostly : validate(schema, document, specifiedRules);
  }

  function check(text: string): Checked {
    const known = checked.get(text);
    if (known !== undefined) return known;
    const document = parse(text, { maxTokens: costLimits.tokensMax });
    const found = { document, errors: errorsIn(document) };
    checked.set(text, found);
    return found;
  }

  const handle = createHandler<unknown, unknown, GraphqlContext>({
    schema,
    context: () => createContext(read),
    parse: (source) => check(typeof source === "string" ? source : source.body).document,
    validate: (_schema, document) => errorsOf(checked, document) ?? errorsIn(document),
    formatError(error) {
      const original = error instanceof GraphQLError ? error.originalError : error;
      // A resolver's own words for a client have no original error behind them.
      if (original === undefined || original === null || original instanceof GraphQLError) return error;
      if (!isExpected(original)) logger.error({ err: original }, "a GraphQL field failed");
      const message = isExpected(original) ? unavailable : "Something went wrong on our side";
      return new GraphQLError(message, error instanceof GraphQLError ? { path: error.path } : {});
    },
  });

  app.route({
    method: ["GET", "POST"],
    url: "/graphql",
    exposeHeadRoute: false,
    async handler(request, reply) {
      const charged = await charge({ request, reply, cost: pointsOf(request.body, check) });
      if (isRefusal(charged)) return sendProblem({ request, reply, refused: charged });
      const [body, { status, statusText, headers = {} }] = await handle({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: typeof request.body === "string" ? request.body : null,
        raw: undefined,
        context: undefined,
      });
      reply.raw.statusMessage = statusText;
      return reply
        .code(status)
        .headers(headers)
        .send(body ?? "");
    },
  });
}

function errorsOf(
  checked: LRUCache<string, Checked>,
  document: DocumentNode,
): readonly GraphQLError[] | undefined {
  const text = document.loc?.source.body;
  const found = text === undefined ? undefined : checked.peek(text);
  return found?.document === document ? found.errors : undefined;
}

/** What a request costs of the limit; one that cannot be read costs the least. */
function pointsOf(body: unknown, check: (text: string) => Checked): number {
  if (typeof body !== "string") return 1;
  try {
    const json: unknown = JSON.parse(body);
    const query = typeof json === "object" && json !== null && "query" in json ? json.query : undefined;
    if (typeof query !== "string") return 1;
    const { document, errors } = check(query);
    return errors.length > 0 ? 1 : 1 + Math.floor(costOf(document) / costPerPoint);
  } catch {
    return 1;
  }
}
