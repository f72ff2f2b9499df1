import { errorTable } from "../../lib/errors.ts";
import type { FoundKey } from "../../lib/keys/key-reader.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import { andThen } from "../maybe-promise.ts";
import { isPreflight, preflightReply, withCors } from "../server/cors.ts";
import type { Exchange, Reply, RequestHead } from "../server/exchange.ts";
import type { AnswerFrame } from "../server/websocket/session.ts";
import { isStream } from "../server/write-reply.ts";
import { showExplorer } from "./explorer-routes.ts";
import { claimFromFaucet, followClaim, refuseCharged } from "./faucet-routes.ts";
import { answerCalls, answerFrameCalls } from "./pipeline.ts";
import { createRequestContexts, type PipelineDependencies, type Route } from "./request-context.ts";
import { problemResponse, type Response, rpcErrorResponse } from "./response.ts";
import { authenticate } from "./stages/authenticate.ts";
import { checkHttp, notFound } from "./stages/read.ts";

export type RequestHandler = {
  /** Answers every HTTP request but upgrades: calls `answer` once. */
  handle(exchange: Exchange, answer: (reply: Reply) => void): void;
  /** Refuses a request whose body comes in chunks, none of them with its head. */
  refuseBodiless(head: RequestHead): Reply;
  answerFrame: AnswerFrame;
  /** What requests that begin from now on are answered with. */
  use(next: PipelineDependencies): void;
};

const routes: ReadonlyMap<string, Route> = new Map([
  ["/", answerCalls],
  ["/faucet/claim", claimFromFaucet],
]);

function routeOf(head: RequestHead): Route {
  if (isPreflight(head)) return allowOrigin;
  const route = routes.get(head.path);
  if (route !== undefined) return route;
  if (head.page !== undefined) return showExplorer;
  return head.path.startsWith("/faucet/claims/") ? followClaim : findNothing;
}

/** Makes the functions that answer requests and frames, count them and log them. They never throw or reject. */
export function createRequestHandler(deps: PipelineDependencies): RequestHandler {
  const { metrics, logger, monotonicMs } = deps;
  const contexts = createRequestContexts(deps);

  return {
    handle(exchange, answer) {
      const startedMs = monotonicMs();
      const { head } = exchange;
      const context = contexts.open((response) => {
        const { reply } = response;
        metrics.requests.inc(reply.status);
        metrics.requestSeconds.observe((monotonicMs() - startedMs) / 1000);
        record("request", response, startedMs);
        answer(head.origin === undefined ? reply : withCors(reply));
      });
      try {
        routeOf(head)(exchange, context);
      } catch (error) {
        context.fail(error);
      }
    },
    refuseBodiless(head) {
      const refused = checkHttp(head) ?? bodiless;
      const response = head.path === "/" ? rpcErrorResponse(refused) : problemResponse(refused);
      const { reply } = response;
      metrics.requests.inc(reply.status);
      record("request", response, monotonicMs());
      return head.origin === undefined ? reply : withCors(reply);
    },
    answerFrame: (frame, from) =>
      new Promise((resolve) => {
        const startedMs = monotonicMs();
        const context = contexts.open((response) => {
          const { body, status, release } = response.reply;
          metrics.frames.inc();
          record("frame", response, startedMs);
          const message = body === undefined || isStream(body) ? undefined : body;
          resolve({ message, isKeyOver: status === unauthorized, release });
        });
        try {
          answerFrameCalls(frame, from, context);
        } catch (error) {
          context.fail(error);
        }
      }),
    use: contexts.use,
  };

  function record(what: string, { reply, refused, keyId, requestId }: Response, startedMs: number): void {
    if (refused !== undefined) metrics.refusals.inc(refused.refused);
    if (!logger.isLevelEnabled("debug")) return;
    const elapsedMs = Number((monotonicMs() - startedMs).toFixed(3));
    logger.debug({ requestId, keyId, status: reply.status, refused: refused?.refused, elapsedMs }, what);
  }
}

/** A browser's preflight, before it lets a page ask. */
const allowOrigin: Route = (_exchange, { respond }) => respond({ reply: preflightReply });

/** Any other path. A good key is charged here too, and gets the headers of its limit. */
const findNothing: Route = (exchange, context) => {
  const { deps, respond, fail } = context;
  const refused = checkHttp(exchange.head) ?? notFound(exchange.head);
  if (exchange.head.apiKey === undefined) return respond(problemResponse(refused));
  const onKey = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return respond(problemResponse(refused));
    exchange.prove();
    refuseCharged(refused, key, context);
  };
  andThen(authenticate(exchange, deps), onKey, fail);
};

const unauthorized = errorTable.api_key_invalid.status;

const bodiless = refusal(
  "invalid_request",
  "Send the body with Content-Length, or send its first chunk together with the head",
  { headers: { Connection: "close" } },
);
