import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { errorTable } from "../../lib/errors.ts";
import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import type { Profile } from "../../lib/keys/api-key.ts";
import type { FoundKey } from "../../lib/keys/key-store.ts";
import type { AnswerBudget, AnswerHold } from "../answer-budget/answer-budget.ts";
import type { KeyCache } from "../auth/key-cache.ts";
import type { Cache } from "../cache/cache.ts";
import type { GatewayLimits } from "../config.ts";
import { readableId } from "../json-rpc/readable-id.ts";
import { isRefusal, type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { FailureLimiter } from "../limits/failure-limiter.ts";
import type { Limiter } from "../limits/limiter.ts";
import { andThen, guarded } from "../maybe-promise.ts";
import type { Call } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { isPreflight, preflightReply, withCors } from "../server/cors.ts";
import type { Exchange, Reply, RequestHead } from "../server/exchange.ts";
import type { AnswerFrame } from "../server/websocket/session.ts";
import { isStream } from "../server/write-reply.ts";
import type { FrameCaller } from "../subscriptions/answer-subscription.ts";
import type { CheckTraceGas } from "../traces/create-trace-gas.ts";
import type { DeadlyCalls } from "../traces/deadly-calls.ts";
import type { TraceSettings } from "../traces/trace-settings.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { type FaucetClient, joinLimits } from "./faucet-client.ts";
import type { AnswerOwnMethod, OwnCall } from "./own-methods.ts";
import { createQaTrace } from "./qa-trace.ts";
import { answer, answerProblem, answerRefusal } from "./stages/answer.ts";
import { atHead } from "./stages/at-head.ts";
import { authenticate, checkPermission, findByHash } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { boundTrace } from "./stages/bound-trace.ts";
import { type Charged, charge, chargeRefusal } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { checkTransaction } from "./stages/check-transaction.ts";
import { forward, type Outcome } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { checkHttp, checkRequest, isFresh, notFound, read } from "./stages/read.ts";

export type PipelineDependencies = {
  profile: Profile;
  limits: GatewayLimits;
  keys: KeyCache;
  clientAddress: ClientAddress;
  failures: FailureLimiter;
  limiter: Limiter;
  methods: MethodTable;
  upstream: Pick<Upstream, "head" | "reach" | "whyNoneCounts">;
  cache: Cache;
  traceBounds: TraceSettings;
  checkTraceGas: CheckTraceGas;
  deadly: Pick<DeadlyCalls, "has" | "note">;
  answerBudget: Pick<AnswerBudget, "open">;
  answerOwnMethod: AnswerOwnMethod;
  faucet: FaucetClient;
  metrics: GatewayMetrics;
  logger: Logger;
  monotonicMs: () => number;
};

type Travelled = {
  reply: Reply;
  refused?: Refusal;
  keyId?: string;
  /** As the answer names it, where it does. */
  requestId?: string;
};

/**
 * Where a request's journey ends. Usually everything but a validator's answer is there at once, so the stages go on by
 * callbacks: promises took half as long as all the rest. What is thrown ends in `fail`, wherever it is thrown.
 */
type Journey = {
  /** The body is there: counts it as in flight from here on. False where that would be one too many. */
  enter: () => boolean;
  done: (travelled: Travelled) => void;
  fail: (error: unknown) => void;
};

/** JSON-RPC, from a request's head to its answer: each call of a function of `stages/` is a stage. */
function answerCalls(exchange: Exchange, deps: PipelineDependencies, journey: Journey): void {
  const { limits } = deps;
  const { head } = exchange;
  const { done, fail } = journey;
  const unreadable = checkRequest(head, limits);
  const found = authenticate(exchange, deps);
  // A key that has to be looked up may be good. The body of a request without one is not kept.
  if (found instanceof Promise && unreadable === undefined && head.apiKey !== undefined)
    exchange.hold(limits);
  const strangersId = found instanceof Promise ? idOf(exchange, limits) : undefined;
  const goOn = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return done(refuse(unreadable ?? key, strangersId ?? idOf(exchange, limits)));
    exchange.prove();
    const refuseWithKey = (refused: Refusal, idText: string) =>
      refuseCharged(refused, idText, { key, deps, journey });
    if (unreadable !== undefined) return refuseWithKey(unreadable, "null");
    const refused = checkPermission(key, "rpc") ?? checkOrigin(head, key);
    if (refused !== undefined) return refuseWithKey(refused, idOf(exchange, limits));
    const answerBody = (body: Uint8Array | Refusal | "aborted") => {
      if (body === "aborted") return done(nobodyWaits);
      if (isRefusal(body)) return refuseWithKey(body, "null");
      if (!journey.enter()) return refuseWithKey(overloaded, readableId(body, limits));
      // Nothing may be read behind a body in chunks, and a stream has the library read on.
      const mayStream = head.transferEncodings === undefined;
      carryOut(body, { key, caller: undefined, isFresh: isFresh(head), mayStream }, deps, journey);
    };
    read(exchange, { limits, keyId: key.id }, guarded(answerBody, fail));
  };
  andThen(found, goOn, fail);
}

/** The id of a request that is refused before its body was read, where that is there already. */
function idOf(exchange: Exchange, limits: GatewayLimits): string {
  const body = exchange.arrivedBody();
  return body === undefined ? "null" : readableId(body, limits);
}

/** The same from a WebSocket's frame: its key may have changed since it was opened. */
function answerFrameCalls(
  frame: Uint8Array,
  { keyHash, caller }: { keyHash: string; caller: FrameCaller },
  deps: PipelineDependencies,
  journey: Journey,
): void {
  const goOn = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) journey.done(refuse(key, readableId(frame, deps.limits)));
    else if (!journey.enter()) journey.done(refuse(overloaded, readableId(frame, deps.limits), key.id));
    else carryOut(frame, { key, caller, isFresh: false, mayStream: false }, deps, journey);
  };
  andThen(findByHash(keyHash, deps), goOn, journey.fail);
}

/** What HTTP and WebSocket have in common: a body to its answer. `caller` is undefined over HTTP. */
function carryOut(
  body: Uint8Array,
  /** `isFresh`: whoever asks wants no remembered answers. `mayStream`: over HTTP, where an answer may go out in pieces. */
  asker: { key: FoundKey; caller: FrameCaller | undefined; isFresh: boolean; mayStream: boolean },
  deps: PipelineDependencies,
  journey: Journey,
): void {
  const { limits, limiter, methods, upstream } = deps;
  const { key, caller } = asker;

  const request = parse(body, limits);
  if (isRefusal(request)) {
    refuseCharged(request, request.idText, { key, bytes: body.length, deps, journey });
    return;
  }
  const { isBatch } = request;

  const head = upstream.head();
  const { permissions } = key;
  const transactions = { bytesMax: limits.transactionBytesMax };
  const placed = request.calls.map((call) =>
    atHead(
      boundTrace(checkTransaction(authorize(call, { key, methods }), transactions), {
        bounds: deps.traceBounds,
      }),
      { head, permissions },
    ),
  );

  const trace = key.qa && caller === undefined ? createQaTrace({ monotonicMs: deps.monotonicMs }) : undefined;
  const charged = charge(placed, { key, limiter, requestsPerMinute: limits.requestsPerMinute });
  andThen(charged, goOn, journey.fail);

  function goOn({ calls, headers }: Charged): void {
    const [only] = calls;
    if (!isBatch && only?.kind === "refused" && only.refusal.refused === "rate_limited") {
      journey.done(refuse({ ...only.refusal, headers }, only.idText, key.id));
      return;
    }
    trace?.charged();
    // A message of a WebSocket is whole, so that others may follow it; and nobody reads the answer to a notification.
    const mayStream = asker.mayStream && !isBatch && only?.idText !== undefined;
    const forwarding = {
      answerBudget: deps.answerBudget,
      cache: deps.cache,
      deadly: deps.deadly,
      checkTraceGas: deps.checkTraceGas,
      reach: upstream.reach,
      whyNoneCounts: upstream.whyNoneCounts,
      options: { group: key.id, mayStream, head, isFresh: asker.isFresh },
      answerOurselves: (call: OwnCall) => deps.answerOwnMethod(call, asker),
      trace,
    };
    const finish = (outcomes: readonly Outcome[], hold: AnswerHold | undefined) => {
      try {
        count(calls, outcomes, deps.metrics);
        const all = trace === undefined ? headers : { ...headers, ...trace.headers(outcomes) };
        const reply = answer({ isBatch, calls, outcomes, headers: all, isLong: hold !== undefined });
        if (hold !== undefined) reply.release = hold.release;
        journey.done({ reply, keyId: key.id });
      } catch (error) {
        hold?.release();
        journey.fail(error);
      }
    };
    forward(calls, forwarding, finish);
  }
}

function count(
  calls: readonly Call[],
  outcomes: readonly Outcome[],
  { calls: carriedOut, refusals }: GatewayMetrics,
): void {
  for (const call of calls) if (call.kind === "forward") carriedOut.inc(call.rule.name);
  for (const outcome of outcomes) if (isRefusal(outcome)) refusals.inc(outcome.refused);
}

/** A request that is refused as a whole, but with a good key, costs as a call does. */
function refuseCharged(
  refused: Refusal,
  idText: string,
  {
    key,
    bytes = 0,
    deps,
    journey,
  }: {
    key: FoundKey;
    /** What was read of it. */
    bytes?: number;
    deps: PipelineDependencies;
    journey: Journey;
  },
): void {
  const goOn = (why: Refusal) => journey.done(refuse(why, idText, key.id));
  andThen(chargeRefusal(refused, { idText, bytes }, key, deps), goOn, journey.fail);
}

/** `POST /faucet/claim`: a claim on behalf of the key's team, passed on to the faucet's private address. */
function claimFromFaucet(exchange: Exchange, deps: PipelineDependencies, journey: Journey): void {
  const { done, fail } = journey;
  const limits = { ...deps.limits, bodyBytesMax: claimBytesMax, isClaim: true };
  const unreadable = checkRequest(exchange.head, limits);
  const found = authenticate(exchange, deps);
  if (found instanceof Promise && unreadable === undefined && exchange.head.apiKey !== undefined) {
    exchange.hold(limits);
  }
  const goOn = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return done(problem(unreadable ?? key));
    exchange.prove();
    const refuseWithKey = (refused: Refusal) =>
      andThen(chargeRefusal(refused, {}, key, deps), (why) => done(problem(why, key.id)), fail);
    const refused = unreadable ?? checkPermission(key, "faucet") ?? checkOrigin(exchange.head, key);
    if (refused !== undefined) return refuseWithKey(refused);
    const claim = (body: Uint8Array | Refusal | "aborted") => {
      if (body === "aborted") return done(nobodyWaits);
      if (isRefusal(body)) return refuseWithKey(body);
      if (!journey.enter()) return refuseWithKey(overloaded);
      // Rare enough for promises.
      const { team } = key;
      const { idempotencyKey } = exchange.head;
      const copy = body.slice();
      askFaucet(key, deps, { ask: (faucet) => faucet.claim(copy, { team, idempotencyKey }), isClaim: true })
        .then(done)
        .catch(fail);
    };
    read(exchange, { limits, keyId: key.id }, guarded(claim, fail));
  };
  andThen(found, goOn, fail);
}

/** `GET /faucet/claims/:id`: the claim as it is now. */
function followClaim(exchange: Exchange, deps: PipelineDependencies, { done, fail, enter }: Journey): void {
  const { head } = exchange;
  const [, id] = claimPath.exec(head.path) ?? [];
  const unreadable =
    checkHttp(head) ?? (id === undefined ? notFound(head) : head.method === "GET" ? undefined : onlyGet);
  const goOn = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return done(problem(unreadable ?? key));
    exchange.prove();
    const refused = unreadable ?? checkPermission(key, "faucet") ?? checkOrigin(head, key);
    const refuseWithKey = (why: Refusal) =>
      andThen(chargeRefusal(why, {}, key, deps), (charged) => done(problem(charged, key.id)), fail);
    if (refused !== undefined || id === undefined) return refuseWithKey(refused ?? notFound(head));
    if (!enter()) return refuseWithKey(overloaded);
    askFaucet(key, deps, { ask: (faucet) => faucet.find(id), isClaim: false })
      .then(done)
      .catch(fail);
  };
  andThen(authenticate(exchange, deps), goOn, fail);
}

const claimPath = /^\/faucet\/claims\/([0-9a-f]{32})$/;
const onlyGet = refusal("method_not_allowed", "A claim is followed with GET", { headers: { Allow: "GET" } });

async function askFaucet(
  key: FoundKey,
  deps: PipelineDependencies,
  { ask, isClaim }: { ask: (faucet: FaucetClient) => Promise<Reply | Refusal>; isClaim: boolean },
): Promise<Travelled> {
  const charged = await charge([{ idText: "null", kind: "refused", refusal: claimRefused }], {
    key,
    limiter: deps.limiter,
    requestsPerMinute: deps.limits.requestsPerMinute,
  });
  const { headers } = charged;
  const [claim] = charged.calls;
  if (claim?.kind === "refused" && claim.refusal !== claimRefused) {
    return problem({ ...claim.refusal, headers }, key.id);
  }
  // Who may claim how often is counted in Redis: without it no claim is taken.
  const answered = charged.isDegraded && isClaim ? claimRefused : await ask(deps.faucet);
  if (isRefusal(answered))
    return problem({ ...answered, headers: { ...answered.headers, ...headers } }, key.id);
  return { reply: { ...answered, headers: joinLimits(headers, answered.headers) }, keyId: key.id };
}

type Way = (exchange: Exchange, deps: PipelineDependencies, journey: Journey) => void;

/** What a browser asks before it lets a page ask. */
const allowOrigin: Way = (_exchange, _deps, { done }) => done({ reply: preflightReply });

/** Any other path. A good key is charged, and told of its limit, here too. */
const findNothing: Way = (exchange, deps, { done, fail }) => {
  const refused = checkHttp(exchange.head) ?? notFound(exchange.head);
  if (exchange.head.apiKey === undefined) return done(problem(refused));
  const goOn = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) return done(problem(refused));
    exchange.prove();
    andThen(chargeRefusal(refused, {}, key, deps), (why) => done(problem(why, key.id)), fail);
  };
  andThen(authenticate(exchange, deps), goOn, fail);
};

const ways: ReadonlyMap<string, Way> = new Map([
  ["/", answerCalls],
  ["/faucet/claim", claimFromFaucet],
]);

function otherWay({ path }: RequestHead): Way {
  return path.startsWith("/faucet/claims/") ? followClaim : findNothing;
}

export type Pipeline = {
  /** Answers every HTTP request but upgrades: calls `answer` once. */
  handle(exchange: Exchange, answer: (reply: Reply) => void): void;
  /** Refuses a request whose body comes in chunks, none of them with its head. */
  refuseBodiless(head: RequestHead): Reply;
  answerFrame: AnswerFrame;
  /** Whether the key of this SHA-256 opens nothing any more; false while that is not known. */
  isKeyOver(keyHash: string): Promise<boolean>;
};

/** Makes the functions that answer requests and frames. They never throw or reject. */
export function createPipeline(deps: PipelineDependencies): Pipeline {
  const { limits, metrics, logger, monotonicMs } = deps;
  let inFlight = 0;
  metrics.showInFlight(() => inFlight);

  return {
    handle(exchange, answer) {
      const startedMs = monotonicMs();
      const { head } = exchange;
      const arrive = (travelled: Travelled) => {
        const { reply } = travelled;
        metrics.requests.inc(reply.status);
        metrics.requestSeconds.observe((monotonicMs() - startedMs) / 1000);
        record("request", travelled, startedMs);
        answer(head.origin === undefined ? reply : withCors(reply));
      };
      const way = isPreflight(head) ? allowOrigin : (ways.get(head.path) ?? otherWay(head));
      begin((journey) => way(exchange, deps, journey), arrive);
    },
    refuseBodiless(head) {
      const refused = checkHttp(head) ?? bodiless;
      const travelled = head.path === "/" ? refuse(refused) : problem(refused);
      const { reply } = travelled;
      metrics.requests.inc(reply.status);
      record("request", travelled, monotonicMs());
      return head.origin === undefined ? reply : withCors(reply);
    },
    answerFrame: (frame, from) =>
      new Promise((resolve) => {
        const startedMs = monotonicMs();
        const arrive = (travelled: Travelled) => {
          const { body, status, release } = travelled.reply;
          metrics.frames.inc();
          record("frame", travelled, startedMs);
          const message = body === undefined || isStream(body) ? undefined : body;
          resolve({ message, isKeyOver: status === unauthorized, release });
        };
        begin((journey) => answerFrameCalls(frame, from, deps, journey), arrive);
      }),
    async isKeyOver(keyHash) {
      const key = await findByHash(keyHash, deps);
      return isRefusal(key) && errorTable[key.refused].status === unauthorized;
    },
  };

  /** Begins a journey that arrives once, whatever happens on it. */
  function begin(travel: (journey: Journey) => void, arrive: (travelled: Travelled) => void): void {
    let isOver = false;
    let isInFlight = false;
    const enter = () => {
      isInFlight = inFlight < limits.requestsInFlightMax;
      if (isInFlight) inFlight += 1;
      return isInFlight;
    };
    const done = (travelled: Travelled) => {
      if (isOver) return travelled.reply.release?.();
      isOver = true;
      if (isInFlight) inFlight -= 1;
      arrive(travelled);
    };
    const fail = (error: unknown) => {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "request failed unexpectedly");
      const message = "Something went wrong on our side; tell your operator the requestId";
      done(refuse(refusal("internal_error", message, { data: { requestId } })));
    };
    try {
      travel({ enter, done, fail });
    } catch (error) {
      fail(error);
    }
  }

  function record(what: string, { reply, refused, keyId, requestId }: Travelled, startedMs: number): void {
    if (refused !== undefined) metrics.refusals.inc(refused.refused);
    if (!logger.isLevelEnabled("debug")) return;
    const elapsedMs = Number((monotonicMs() - startedMs).toFixed(3));
    logger.debug({ requestId, keyId, status: reply.status, refused: refused?.refused, elapsedMs }, what);
  }
}

/** What a request is told that was not answered when the gateway's time for stopping was over. */
export function lateReply({ path, origin }: RequestHead): Reply {
  const { reply } = path === "/" ? refuse(late) : problem(late);
  return origin === undefined ? reply : withCors(reply);
}

function refuse(refused: Refusal, idText = "null", keyId?: string): Travelled {
  // Without POST nothing says that JSON-RPC was meant.
  if (refused.refused === "method_not_allowed") return problem(refused, keyId);
  return { reply: answerRefusal(refused, idText), refused, ...(keyId === undefined ? {} : { keyId }) };
}

function problem(refused: Refusal, keyId?: string): Travelled {
  const requestId = randomUUID();
  const reply = answerProblem(refused, requestId);
  return { reply, refused, requestId, ...(keyId === undefined ? {} : { keyId }) };
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

const late = refusal("service_unavailable", "The gateway stops; ask again", {
  headers: { "Retry-After": "1", Connection: "close" },
});

const bodiless = refusal(
  "invalid_request",
  "Send the body with its Content-Length, or its first chunk together with the head",
  { headers: { Connection: "close" } },
);
