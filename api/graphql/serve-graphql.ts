import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { createHandler, type Handler } from "graphql-http";
import type { Logger } from "pino";
import { errorTable } from "../../lib/errors.ts";
import type { BodyReader } from "../../lib/http-service/body-reader.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import type { ReadModel } from "../read/read-model.ts";
import type { Charge } from "../rest/charge.ts";
import { createDocumentCheck } from "./check-document.ts";
import { createContext, type GraphqlContext } from "./context.ts";
import type { HeadMemo } from "./head-memo.ts";

/** Points of the limit: one for a request, and one more for so much of its query's cost. */
const costPerPoint = 500;

/** Charges what a query costs beyond the request's own point; whether the client has that much left. */
type Bill = { pay(points: number): Promise<boolean> };

/**
 * GraphQL over HTTP (its working draft, which graphql-http follows): POST with JSON, GET with a query. Documents that
 * were checked are kept by their text. What a client is told of an error that is not its own is one sentence.
 */
export function serveGraphql(
  app: FastifyInstance,
  {
    schema,
    read,
    memo,
    charge,
    bodies,
    explain,
    logger,
    playground,
  }: {
    schema: GraphQLSchema;
    read: ReadModel;
    memo: HeadMemo;
    charge: Charge;
    bodies: Pick<BodyReader, "refuseCoding">;
    /** What a client is told of a chain or database that is away. */
    explain: (error: unknown) => Refusal | undefined;
    logger: Pick<Logger, "error">;
    /** What a person who opens the address in a browser gets in place of an error. */
    playground?: { show(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined } | undefined;
  },
): void {
  const handle = createGraphqlHandler({ schema, read, memo, explain, logger });

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const refuse = (refused: Refusal) => sendProblem({ request, reply, refused });
    const shown = playground?.show(request, reply);
    if (shown !== undefined) return shown;
    const encoded = bodies.refuseCoding(request);
    if (encoded !== undefined) return refuse(encoded);
    // Before the query is looked at: what a client over its limit sends costs nobody anything.
    const charged = await charge({ request, reply, cost: 1 });
    if (isRefusal(charged)) return refuse(charged);
    const bill: Bill & { refused?: Refusal } = {
      async pay(points) {
        const rest = await charge({ request, reply, cost: points });
        if (isRefusal(rest)) bill.refused = rest;
        return !isRefusal(rest);
      },
    };
    const [body, { status, headers = {} }] = await handle({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: typeof request.body === "string" ? request.body : null,
      raw: undefined,
      context: bill,
    });
    if (bill.refused !== undefined) return refuse(bill.refused);
    if (body === null) return refuse(status === 406 ? notAcceptable : wrongType);
    if (request.method === "GET") cacheFor(reply, { status, body });
    return reply.code(status).headers(headers).send(body);
  }

  app.route({ method: ["GET", "POST"], url: "/graphql", exposeHeadRoute: false, handler: answer });
}

const wrongType = refusal("unsupported_media_type", "A query is sent as application/json in UTF-8");
const notAcceptable = refusal(
  "not_acceptable",
  "Answers are application/json or application/graphql-response+json, which the request's Accept leaves out",
);

/** A query by GET is kept by caches as long as REST's answers for the newest block, unless something failed in it. */
function cacheFor(reply: FastifyReply, { status, body }: { status: number; body: string }): void {
  reply.header("Vary", "Origin, Accept");
  if (status !== 200 || body.startsWith('{"errors"')) return;
  reply.header("Cache-Control", "public, max-age=1, stale-while-revalidate=2");
}

function createGraphqlHandler({
  schema,
  read,
  memo,
  explain,
  logger,
}: {
  schema: GraphQLSchema;
  read: ReadModel;
  memo: HeadMemo;
  explain: (error: unknown) => Refusal | undefined;
  logger: Pick<Logger, "error">;
}): Handler<undefined, Bill> {
  const check = createDocumentCheck(schema);

  return createHandler<undefined, Bill, GraphqlContext>({
    schema,
    async onSubscribe({ context: bill }, { query, operationName, variables }) {
      const checked = check(query);
      if ("errors" in checked) return checked.errors;
      const points = Math.floor(checked.cost / costPerPoint);
      if (points > 0 && !(await bill.pay(points))) return notPaid;
      return {
        schema,
        document: checked.document,
        operationName: operationName ?? null,
        variableValues: variables ?? null,
        contextValue: createContext({ read, memo }),
      };
    },
    formatError(error) {
      // What graphql-http finds wrong with a request is no error of GraphQL, and is the client's.
      if (!(error instanceof GraphQLError)) return new GraphQLError(error.message);
      const { originalError: original, path } = error;
      // Neither are those of validation, nor a resolver's own words for a client.
      if (original === undefined || original instanceof GraphQLError) return error;
      const refused = explain(original) ?? internal;
      if (refused === internal) logger.error({ err: original, path }, "a GraphQL field failed");
      return new GraphQLError(refused.detail, {
        ...(path === undefined ? {} : { path }),
        extensions: { code: errorTable[refused.refused].code },
      });
    },
  });
}

/** The request is answered with a problem document in its place. */
const notPaid: [null, { status: number; statusText: string }] = [
  null,
  { status: 429, statusText: "Too Many Requests" },
];
const internal = refusal("internal_error", "Something went wrong on our side");
