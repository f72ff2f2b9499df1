import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Profile } from "../lib/api-key.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import { errorTable } from "../lib/errors.ts";
import type { FoundKey } from "../lib/key-store/key-store.ts";
import type { GatewayLimits } from "./config.ts";
import type { FaucetClient } from "./faucet-client.ts";
import { isPreflight, preflightReply, withCors } from "./http/cors.ts";
import type { Exchange, Reply } from "./http/exchange.ts";
import { isStream } from "./http/write-reply.ts";
import { readableId } from "./json-rpc/readable-id.ts";
import type { KeyCache } from "./key-cache.ts";
import type { FailureLimiter } from "./limits/failure-limiter.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { Memory } from "./memory/memory.ts";
import type { MethodTable } from "./method-table.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { AnswerOwnMethod } from "./own-methods.ts";
import { createQaTrace } from "./qa-trace.ts";
import { isRefusal, type Refusal, refusal } from "./refusal.ts";
import { answer, answerProblem, answerRefusal } from "./stages/answer.ts";
import { atHead } from "./stages/at-head.ts";
import { type AuthenticateDependencies, authenticate, findByHash } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { charge } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { forward } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { checkHttp, isFresh, notFound, read } from "./stages/read.ts";
import type { FrameCaller } from "./subscriptions/answer-subscription.ts";
import type { Upstream } from "./upstream/upstream.ts";
import type { AnswerFrame } from "./websocket/session.ts";

export type PipelineDependencies = {
  profile: Profile;
  limits: GatewayLimits;
  keys: KeyCache;
  clientAddress: ClientAddress;
  failures: FailureLimiter;
  limiter: Limiter;
  methods: MethodTable;
  upstream: Pick<Upstream, "head" | "reach">;
  memory: Memory;
  answerOwnMethod: AnswerOwnMethod;
  faucet: FaucetClient;
  metrics: GatewayMetrics;
  logger: Logger;
  monotonicMs: () => number;
};

type Travelled = { reply: Reply; refused?: Refusal; keyId?: string };

/** JSON-RPC, from a request's head to its answer: each call of a function of `stages/` is a stage. */
async function answerCalls(exchange: Exchange, deps: PipelineDependencies): Promise<Travelled> {
  const { limits } = deps;
  const body = await read(exchange, limits);
  if (body === "aborted") return nobodyWaits;

  const key = await authenticate(exchange.head, "rpc", forAuthentication(exchange, deps));
  if (isRefusal(body)) return isRefusal(key) ? refuse(body) : refuseCharged(body, "null", key, deps);
  if (isRefusal(key)) return refuse(key, readableId(body, limits));
  const foreign = checkOrigin(exchange.head, key);
  if (foreign !== undefined) return refuseCharged(foreign, readableId(body, limits), key, deps);

  return carryOut(body, { key, caller: undefined, isFresh: isFresh(exchange.head) }, deps);
}

/** The same from a WebSocket's frame: its key may have changed since it was opened. */
async function answerFrameCalls(
  frame: Uint8Array,
  { keyHash, caller }: { keyHash: string; caller: FrameCaller },
  deps: PipelineDependencies,
): Promise<Travelled> {
  const key = await findByHash(keyHash, deps);
  if (isRefusal(key)) return refuse(key, readableId(frame, deps.limits));
  return carryOut(frame, { key, caller, isFresh: false }, deps);
}

/** What HTTP and WebSocket have in common: a body to its answer. `caller` is undefined over HTTP. */
async function carryOut(
  body: Uint8Array,
  /** `isFresh`: whoever asks wants no remembered answers. */
  asker: { key: FoundKey; caller: FrameCaller | undefined; isFresh: boolean },
  deps: PipelineDependencies,
): Promise<Travelled> {
  const { limits, limiter, memory, metrics, methods, upstream } = deps;
  const { requestsPerMinute } = limits;
  const { key, caller } = asker;

  const request = parse(body, limits);
  if (isRefusal(request)) return refuseCharged(request, request.idText, key, deps);

  const head = upstream.head();
  const { permissions } = key;
  const placed = request.calls.map((call) =>
    atHead(authorize(call, { key, methods }), { head, permissions }),
  );

  const trace = key.qa && caller === undefined ? createQaTrace({ monotonicMs: deps.monotonicMs }) : undefined;
  const { calls, headers } = await charge(placed, { key, limiter, requestsPerMinute });
  const [only] = calls;
  if (!request.isBatch && only?.kind === "refused" && only.refusal.refused === "rate_limited") {
    return refuse({ ...only.refusal, headers }, only.idText, key.id);
  }

  trace?.charged();
  // A message of a WebSocket is whole, so that others may follow it; and nobody reads the answer to a notification.
  const mayStream = !request.isBatch && caller === undefined && only?.idText !== undefined;
  const outcomes = await forward(calls, {
    memory,
    reach: upstream.reach,
    options: { group: key.id, mayStream, head, isFresh: asker.isFresh },
    answerOurselves: (call) => deps.answerOwnMethod(call, asker),
    trace,
  });

  for (const call of calls) if (call.kind === "forward") metrics.calls.inc(call.rule.name);
  for (const outcome of outcomes) if (isRefusal(outcome)) metrics.refusals.inc(outcome.refused);
  const all = trace === undefined ? headers : { ...headers, ...trace.headers(outcomes) };
  return { reply: answer({ isBatch: request.isBatch, calls, outcomes, headers: all }), keyId: key.id };
}

/** A request that is refused as a whole, but with a good key, costs as a call does. */
async function refuseCharged(
  refused: Refusal,
  idText: string,
  key: FoundKey,
  { limiter, limits: { requestsPerMinute } }: PipelineDependencies,
): Promise<Travelled> {
  const charged = await charge([{ idText, kind: "refused", refusal: refused }], {
    key,
    limiter,
    requestsPerMinute,
  });
  const [call] = charged.calls;
  const why = call?.kind === "refused" ? call.refusal : refused;
  return refuse({ ...why, headers: { ...why.headers, ...charged.headers } }, idText, key.id);
}

/** `POST /faucet/claim`: a claim on behalf of the key's team, passed on to the faucet's private address. */
async function claimFromFaucet(exchange: Exchange, deps: PipelineDependencies): Promise<Travelled> {
  const body = await read(exchange, { ...deps.limits, bodyBytesMax: claimBytesMax });
  if (body === "aborted") return nobodyWaits;
  if (isRefusal(body)) return problem(body);

  const key = await authenticate(exchange.head, "faucet", forAuthentication(exchange, deps));
  if (isRefusal(key)) return problem(key);
  const foreign = checkOrigin(exchange.head, key);

  const charged = await charge([{ idText: "null", kind: "refused", refusal: claimRefused }], {
    key,
    limiter: deps.limiter,
    requestsPerMinute: deps.limits.requestsPerMinute,
  });
  const [claim] = charged.calls;
  if (claim?.kind === "refused" && claim.refusal !== claimRefused) {
    return problem({ ...claim.refusal, headers: charged.headers });
  }
  if (foreign !== undefined) return problem({ ...foreign, headers: charged.headers });
  // Who may claim how often is counted in Redis: without it no claim is taken.
  const answered = charged.isDegraded ? claimRefused : await deps.faucet.claim(body, { team: key.team });
  if (isRefusal(answered)) return problem({ ...answered, headers: charged.headers });
  return { reply: { ...answered, headers: { ...answered.headers, ...charged.headers } }, keyId: key.id };
}

/** What a browser asks before it lets a page ask. */
async function allowOrigin(): Promise<Travelled> {
  return { reply: preflightReply };
}

/** Any other path. */
async function findNothing({ head }: Exchange): Promise<Travelled> {
  return problem(checkHttp(head) ?? notFound(head));
}

const ways: ReadonlyMap<string, (exchange: Exchange, deps: PipelineDependencies) => Promise<Travelled>> =
  new Map([
    ["/", answerCalls],
    ["/faucet/claim", claimFromFaucet],
  ]);

export type Pipeline = {
  /** Answers every HTTP request but upgrades. */
  handle(exchange: Exchange): Promise<Reply>;
  answerFrame: AnswerFrame;
  /** Whether the key of this SHA-256 opens nothing any more; false while that is not known. */
  isKeyOver(keyHash: string): Promise<boolean>;
};

/** Makes the functions that answer requests and frames. They never reject. */
export function createPipeline(deps: PipelineDependencies): Pipeline {
  const { limits, metrics, logger, monotonicMs } = deps;
  let inFlight = 0;
  metrics.showInFlight(() => inFlight);

  return {
    async handle(exchange) {
      const startedMs = monotonicMs();
      const { head } = exchange;
      const way = isPreflight(head) ? allowOrigin : (ways.get(head.path) ?? findNothing);
      const travelled = await guard(() => way(exchange, deps));
      const { reply } = travelled;
      metrics.requests.inc(reply.status);
      metrics.requestSeconds.observe((monotonicMs() - startedMs) / 1000);
      record("request", travelled, startedMs);
      return head.origin === undefined ? reply : withCors(reply);
    },
    async answerFrame(frame, from) {
      const startedMs = monotonicMs();
      const travelled = await guard(() => answerFrameCalls(frame, from, deps));
      metrics.frames.inc();
      record("frame", travelled, startedMs);
      const { body, status } = travelled.reply;
      return {
        message: body === undefined || isStream(body) ? undefined : body,
        isKeyOver: status === unauthorized,
      };
    },
    async isKeyOver(keyHash) {
      const key = await findByHash(keyHash, deps);
      return isRefusal(key) && errorTable[key.refused].status === unauthorized;
    },
  };

  async function guard(travel: () => Promise<Travelled>): Promise<Travelled> {
    inFlight += 1;
    try {
      return inFlight > limits.requestsInFlightMax ? refuse(overloaded) : await travel();
    } catch (error) {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "request failed unexpectedly");
      const message = "Something went wrong on our side; tell your operator the requestId";
      return refuse(refusal("internal_error", message, { data: { requestId } }));
    } finally {
      inFlight -= 1;
    }
  }

  function record(what: string, { reply, refused, keyId }: Travelled, startedMs: number): void {
    if (refused !== undefined) metrics.refusals.inc(refused.refused);
    if (!logger.isLevelEnabled("debug")) return;
    const elapsedMs = Number((monotonicMs() - startedMs).toFixed(3));
    logger.debug({ keyId, status: reply.status, refused: refused?.refused, elapsedMs }, what);
  }
}

/** What the stage that finds the key needs of a request or an upgrade. */
export function forAuthentication(
  { head, peerAddress }: Pick<Exchange, "head" | "peerAddress">,
  {
    profile,
    keys,
    failures,
    monotonicMs,
    clientAddress,
  }: Pick<PipelineDependencies, "profile" | "keys" | "failures" | "monotonicMs" | "clientAddress">,
): AuthenticateDependencies {
  return {
    profile,
    keys,
    failures,
    monotonicMs,
    clientAddress: () => clientAddress.of({ peer: peerAddress(), forwardedFor: head.forwardedFor }),
  };
}

function refuse(refused: Refusal, idText = "null", keyId?: string): Travelled {
  // Without POST nothing says that JSON-RPC was meant.
  if (refused.refused === "method_not_allowed") return problem(refused);
  return { reply: answerRefusal(refused, idText), refused, ...(keyId === undefined ? {} : { keyId }) };
}

function problem(refused: Refusal): Travelled {
  return { reply: answerProblem(refused), refused };
}

const unauthorized = errorTable.api_key_invalid.status;

/** Written to nobody: the connection is gone. */
const nobodyWaits: Travelled = { reply: { status: 400, headers: {}, body: undefined, close: true } };

const claimBytesMax = 4096;
const claimRefused = refusal(
  "upstream_unavailable",
  "The faucet takes no claims at the moment; try again shortly",
);

const overloaded = refusal(
  "upstream_unavailable",
  "The gateway carries out as many requests as it can; try again shortly",
  { headers: { "Retry-After": "1", Connection: "close" } },
);
