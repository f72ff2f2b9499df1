import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Profile } from "../lib/api-key.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import { errorTable } from "../lib/errors.ts";
import type { FoundKey } from "../lib/key-store/key-store.ts";
import type { Call } from "./call.ts";
import type { GatewayLimits } from "./config.ts";
import type { FaucetClient } from "./faucet-client.ts";
import { isPreflight, preflightReply, withCors } from "./http/cors.ts";
import type { Exchange, Reply } from "./http/exchange.ts";
import { isStream } from "./http/write-reply.ts";
import { readableId } from "./json-rpc/readable-id.ts";
import type { KeyCache } from "./key-cache.ts";
import { guarded, type Later, whenThere } from "./later.ts";
import type { FailureLimiter } from "./limits/failure-limiter.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { Memory } from "./memory/memory.ts";
import type { MethodTable } from "./method-table.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { AnswerOwnMethod, OwnCall } from "./news/own-methods.ts";
import type { FrameCaller } from "./news/subscriptions/answer-subscription.ts";
import { createQaTrace } from "./qa-trace.ts";
import { isRefusal, type Refusal, refusal } from "./refusal.ts";
import { answer, answerProblem, answerRefusal } from "./stages/answer.ts";
import { atHead } from "./stages/at-head.ts";
import { authenticate, findByHash } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { type Charged, charge } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { forward, type Outcome } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { checkHttp, isFresh, notFound, read } from "./stages/read.ts";
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

/**
 * Where a request's journey ends. Usually everything but a validator's answer is there at once, so the stages go on by
 * callbacks: promises took half as long as all the rest. What is thrown ends in `fail`, wherever it is thrown.
 */
type Journey = { done: (travelled: Travelled) => void; fail: (error: unknown) => void };

/** JSON-RPC, from a request's head to its answer: each call of a function of `stages/` is a stage. */
function answerCalls(exchange: Exchange, deps: PipelineDependencies, { done, fail }: Journey): void {
  const { limits } = deps;
  const answerBody = (bytes: Uint8Array | Refusal | "aborted") => {
    if (bytes === "aborted") return done(nobodyWaits);
    const found = authenticate(exchange, "rpc", deps);
    const body = isRefusal(bytes) ? bytes : keptFor(found, bytes);
    const goOn = (key: FoundKey | Refusal) => {
      if (isRefusal(body)) return isRefusal(key) ? done(refuse(body)) : refuseWithKey(body, "null", key);
      if (isRefusal(key)) return done(refuse(key, readableId(body, limits)));
      const foreign = checkOrigin(exchange.head, key);
      if (foreign !== undefined) return refuseWithKey(foreign, readableId(body, limits), key);
      carryOut(body, { key, caller: undefined, isFresh: isFresh(exchange.head) }, deps, { done, fail });
    };
    whenThere(found, goOn, fail);
  };
  const refuseWithKey = (refused: Refusal, idText: string, key: FoundKey) =>
    refuseCharged(refused, idText, { key, deps, journey: { done, fail } });
  read(exchange, limits, guarded(answerBody, fail));
}

/** A body's bytes are good for this turn only: who has to wait for something needs a copy. */
function keptFor(awaited: Later<unknown>, bytes: Uint8Array): Uint8Array {
  return awaited instanceof Promise ? bytes.slice() : bytes;
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
    else carryOut(frame, { key, caller, isFresh: false }, deps, journey);
  };
  whenThere(findByHash(keyHash, deps), goOn, journey.fail);
}

/** What HTTP and WebSocket have in common: a body to its answer. `caller` is undefined over HTTP. */
function carryOut(
  body: Uint8Array,
  /** `isFresh`: whoever asks wants no remembered answers. */
  asker: { key: FoundKey; caller: FrameCaller | undefined; isFresh: boolean },
  deps: PipelineDependencies,
  journey: Journey,
): void {
  const { limits, limiter, methods, upstream } = deps;
  const { key, caller } = asker;

  const request = parse(body, limits);
  if (isRefusal(request)) {
    refuseCharged(request, request.idText, { key, deps, journey });
    return;
  }
  const { isBatch } = request;

  const head = upstream.head();
  const { permissions } = key;
  const placed = request.calls.map((call) =>
    atHead(authorize(call, { key, methods }), { head, permissions }),
  );

  const trace = key.qa && caller === undefined ? createQaTrace({ monotonicMs: deps.monotonicMs }) : undefined;
  const charged = charge(placed, { key, limiter, requestsPerMinute: limits.requestsPerMinute });
  whenThere(charged, goOn, journey.fail);

  function goOn({ calls, headers }: Charged): void {
    const [only] = calls;
    if (!isBatch && only?.kind === "refused" && only.refusal.refused === "rate_limited") {
      journey.done(refuse({ ...only.refusal, headers }, only.idText, key.id));
      return;
    }
    trace?.charged();
    // A message of a WebSocket is whole, so that others may follow it; and nobody reads the answer to a notification.
    const mayStream = !isBatch && caller === undefined && only?.idText !== undefined;
    const forwarding = {
      memory: deps.memory,
      reach: upstream.reach,
      options: { group: key.id, mayStream, head, isFresh: asker.isFresh },
      answerOurselves: (call: OwnCall) => deps.answerOwnMethod(call, asker),
      trace,
    };
    const finish = (outcomes: readonly Outcome[]) => {
      count(calls, outcomes, deps.metrics);
      const all = trace === undefined ? headers : { ...headers, ...trace.headers(outcomes) };
      const reply = answer({ isBatch, calls, outcomes, headers: all });
      journey.done({ reply, keyId: key.id });
    };
    forward(calls, forwarding, guarded(finish, journey.fail));
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
  { key, deps, journey }: { key: FoundKey; deps: PipelineDependencies; journey: Journey },
): void {
  const { limiter, limits } = deps;
  const charged = charge([{ idText, kind: "refused", refusal: refused }], {
    key,
    limiter,
    requestsPerMinute: limits.requestsPerMinute,
  });
  const goOn = ({ calls: [call], headers }: Charged) => {
    const why = call?.kind === "refused" ? call.refusal : refused;
    journey.done(refuse({ ...why, headers: { ...why.headers, ...headers } }, idText, key.id));
  };
  whenThere(charged, goOn, journey.fail);
}

/** `POST /faucet/claim`: a claim on behalf of the key's team, passed on to the faucet's private address. */
function claimFromFaucet(exchange: Exchange, deps: PipelineDependencies, { done, fail }: Journey): void {
  const limits = { ...deps.limits, bodyBytesMax: claimBytesMax };
  const claim = (body: Uint8Array | Refusal | "aborted") => {
    if (body === "aborted") return done(nobodyWaits);
    if (isRefusal(body)) return done(problem(body));
    // Rare enough for promises.
    passClaimOn(body.slice(), exchange, deps).then(done).catch(fail);
  };
  read(exchange, limits, guarded(claim, fail));
}

async function passClaimOn(
  body: Uint8Array,
  exchange: Exchange,
  deps: PipelineDependencies,
): Promise<Travelled> {
  const key = await authenticate(exchange, "faucet", deps);
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
  const { idempotencyKey } = exchange.head;
  const answered = charged.isDegraded
    ? claimRefused
    : await deps.faucet.claim(body, { team: key.team, idempotencyKey });
  if (isRefusal(answered)) return problem({ ...answered, headers: charged.headers });
  return { reply: { ...answered, headers: { ...answered.headers, ...charged.headers } }, keyId: key.id };
}

type Way = (exchange: Exchange, deps: PipelineDependencies, journey: Journey) => void;

/** What a browser asks before it lets a page ask. */
const allowOrigin: Way = (_exchange, _deps, { done }) => done({ reply: preflightReply });

/** Any other path. */
const findNothing: Way = ({ head }, _deps, { done }) => done(problem(checkHttp(head) ?? notFound(head)));

const ways: ReadonlyMap<string, Way> = new Map([
  ["/", answerCalls],
  ["/faucet/claim", claimFromFaucet],
]);

export type Pipeline = {
  /** Answers every HTTP request but upgrades: calls `answer` once. */
  handle(exchange: Exchange, answer: (reply: Reply) => void): void;
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
      const way = isPreflight(head) ? allowOrigin : (ways.get(head.path) ?? findNothing);
      begin((journey) => way(exchange, deps, journey), arrive);
    },
    answerFrame: (frame, from) =>
      new Promise((resolve) => {
        const startedMs = monotonicMs();
        const arrive = (travelled: Travelled) => {
          const { body, status } = travelled.reply;
          metrics.frames.inc();
          record("frame", travelled, startedMs);
          const message = body === undefined || isStream(body) ? undefined : body;
          resolve({ message, isKeyOver: status === unauthorized });
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
    inFlight += 1;
    const done = (travelled: Travelled) => {
      if (isOver) return;
      isOver = true;
      inFlight -= 1;
      arrive(travelled);
    };
    const fail = (error: unknown) => {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "request failed unexpectedly");
      const message = "Something went wrong on our side; tell your operator the requestId";
      done(refuse(refusal("internal_error", message, { data: { requestId } })));
    };
    try {
      if (inFlight > limits.requestsInFlightMax) done(refuse(overloaded));
      else travel({ done, fail });
    } catch (error) {
      fail(error);
    }
  }

  function record(what: string, { reply, refused, keyId }: Travelled, startedMs: number): void {
    if (refused !== undefined) metrics.refusals.inc(refused.refused);
    if (!logger.isLevelEnabled("debug")) return;
    const elapsedMs = Number((monotonicMs() - startedMs).toFixed(3));
    logger.debug({ keyId, status: reply.status, refused: refused?.refused, elapsedMs }, what);
  }
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
