import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import type { ReadModel } from "../read/read-model.ts";
import { accepts } from "./accepts.ts";
import { type AnswerCache, type FinishedAnswer, minedForMs } from "./answer-cache.ts";
import type { Charge } from "./charge.ts";
import { matchesEtag } from "./etag.ts";
import type { CacheRule, Route } from "./route.ts";

const urlLengthMax = 2048;

const tooLong = refusal("uri_too_long", `The URL is longer than ${urlLengthMax} characters`);
const notAcceptable = refusal(
  "not_acceptable",
  "The answer is of a type that the request's Accept leaves out",
);

/** Adds each route of the table, with HEAD, ETags, caching and the limit. */
export function serveRoutes(
  app: FastifyInstance,
  {
    routes,
    read,
    cache,
    charge,
    canBeImmutable,
  }: {
    routes: readonly Route[];
    read: ReadModel;
    cache: AnswerCache;
    charge: Charge;
    canBeImmutable: () => boolean;
  },
): void {
  async function handle(row: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const refuse = (refused: Refusal) => sendProblem({ request, reply, refused });
    if (request.url.length > urlLengthMax) return refuse(tooLong);
    if (!accepts(request.headers.accept, typeOf(row))) return refuse(notAcceptable);
    const kept = cache.peek(request.url);
    // A copy that is still right costs nothing, so that clients have a reason to ask for it that way.
    if (kept !== undefined && matchesEtag(request.headers["if-none-match"], kept.etag)) {
      return sendHead(reply, kept).code(304).send();
    }
    const charged = await charge({ request, reply, cost: row.cost });
    if (isRefusal(charged)) return refuse(charged);
    const answer =
      kept ??
      (await cache.answer(request.url, async () =>
        row.answer({ params: request.params, query: request.query, read }),
      ));
    if (isRefusal(answer)) return refuse(answer);
    if (matchesEtag(request.headers["if-none-match"], answer.etag)) {
      charged.refund();
      return sendHead(reply, answer).code(304).send();
    }
    return sendHead(reply, answer).header("Content-Type", answer.type).send(answer.body);
  }

  function sendHead(reply: FastifyReply, { etag, cache: rule, fileName }: FinishedAnswer): FastifyReply {
    reply.headers({ ETag: etag, "Cache-Control": cacheControl(rule, canBeImmutable()) });
    if (fileName !== undefined) reply.header("Content-Disposition", `attachment; filename="${fileName}"`);
    return reply;
  }

  for (const row of routes) {
    app.get(row.path.replaceAll(/\{(\w+)\}/g, ":$1"), (request, reply) => handle(row, request, reply));
  }
}

function cacheControl(rule: CacheRule, canBeImmutable: boolean): string {
  switch (rule) {
    case "immutable":
      // Browsers would keep a development chain's old blocks for a year.
      return canBeImmutable ? "public, max-age=31536000, immutable" : "no-cache";
    case "mined":
      return canBeImmutable ? `public, max-age=${minedForMs / 1000}` : "no-cache";
    case "consensus":
      return "public, max-age=2";
    case "head":
      return "public, max-age=1, stale-while-revalidate=2";
    case "release":
      return "public, max-age=300";
  }
}

function typeOf({ response }: Route): string {
  return "mediaType" in response ? response.mediaType : "application/json";
}
