import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Profile } from "../lib/api-key.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import type { GatewayLimits } from "./config.ts";
import type { FaucetClient } from "./faucet-client.ts";
import { isPreflight, preflightReply, withCors } from "./http/cors.ts";
import type { Exchange, Reply, RequestHead } from "./http/exchange.ts";
import { readableId } from "./json-rpc/readable-id.ts";
import type { KeyCache } from "./key-cache.ts";
import type { FailureLimiter } from "./limits/failure-limiter.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { MethodTable } from "./method-table.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { isRefusal, type Refusal, refusal } from "./refusal.ts";
import { answer, answerProblem, answerRefusal } from "./stages/answer.ts";
import { type AuthenticateDependencies, authenticate } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { charge } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { forward } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { checkHttp, notFound, read } from "./stages/read.ts";
import type { Upstream } from "./upstream/upstream.ts";

export type PipelineDependencies = {
  profile: Profile;
  limits: GatewayLimits;
  keys: KeyCache;
  clientAddress: ClientAddress;
  failures: FailureLimiter;
  limiter: Limiter;
  methods: MethodTable;
  upstream: Upstream;
  faucet: FaucetClient;
  metrics: GatewayMetrics;
  logger: Logger;
  monotonicMs: () => number;
};

type Travelled = { reply: Reply; refused?: Refusal; keyId?: string };

/** JSON-RPC, from a request's head to its answer: each call of a function of `stages/` is a stage. */
async function answerCalls(exchange: Exchange, deps: PipelineDependencies): Promise<Travelled> {
  const { limits, limiter, metrics, methods, upstream } = deps;
  const { requestsPerMinute } = limits;

  const body = await read(exchange, limits);
  if (body === "aborted") return nobodyWaits;

  const key = await authenticate(exchange.head, "rpc", forAuthentication(exchange, deps));
  if (isRefusal(body)) return isRefusal(key) ? refuse(body) : refuseCharged(body, "null");
  if (isRefusal(key)) return refuse(key, readableId(body, limits));
  const foreign = checkOrigin(exchange.head, key);
  if (foreign !== undefined) return refuseCharged(foreign, readableId(body, limits));

  const request = parse(body, limits);
  if (isRefusal(request)) return refuseCharged(request, request.idText);

  const headNumber = () => upstream.headNumber();
  const authorized = request.calls.map((call) => authorize(call, { key, methods, headNumber }));

  const { calls, headers } = await charge(authorized, { key, limiter, requestsPerMinute });
  const [only] = calls;
  if (!request.isBatch && only?.kind === "refused" && only.refusal.refused === "rate_limited") {
    return refuse({ ...only.refusal, headers }, only.idText, key.id);
  }

  const outcomes = await forward(calls, { upstream, group: key.id, mayStream: !request.isBatch });

  for (const call of calls) if (call.kind === "forward") metrics.calls.inc({ method: call.rule.name });
  for (const outcome of outcomes)
    if (isRefusal(outcome)) metrics.refusals.inc({ condition: outcome.refused });
  return { reply: answer({ isBatch: request.isBatch, calls, outcomes, headers }), keyId: key.id };

  /** A request that is refused as a whole, but with a good key, costs as a call does. */
  async function refuseCharged(refused: Refusal, idText: string): Promise<Travelled> {
    if (isRefusal(key)) return refuse(refused, idText);
    const charged = await charge([{ idText, kind: "refused", refusal: refused }], {
      key,
      limiter,
      requestsPerMinute,
    });
    const [call] = charged.calls;
    const why = call?.kind === "refused" ? call.refusal : refused;
    return refuse({ ...why, headers: { ...why.headers, ...charged.headers } }, idText, key.id);
  }
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

/** Makes the function that answers every HTTP request. It never rejects. */
export function createPipeline(deps: PipelineDependencies): (exchange: Exchange) => Promise<Reply> {
  const { limits, metrics, logger, monotonicMs } = deps;
  let inFlight = 0;

  return async function handle(exchange) {
    const startedMs = monotonicMs();
    const { head } = exchange;
    inFlight += 1;
    metrics.requestsInFlight.set(inFlight);
    try {
      if (inFlight > limits.requestsInFlightMax) return record(refuse(overloaded), head, startedMs);
      const way = isPreflight(head) ? allowOrigin : (ways.get(head.path) ?? findNothing);
      return record(await way(exchange, deps), head, startedMs);
    } catch (error) {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "request failed unexpectedly");
      const message = "Something went wrong on our side; tell your operator the requestId";
      return record(refuse(refusal("internal_error", message, { data: { requestId } })), head, startedMs);
    } finally {
      inFlight -= 1;
      metrics.requestsInFlight.set(inFlight);
    }
  };

  function record({ reply, refused, keyId }: Travelled, { origin }: RequestHead, startedMs: number): Reply {
    const elapsedMs = monotonicMs() - startedMs;
    metrics.requests.inc({ status: reply.status });
    metrics.requestSeconds.observe(elapsedMs / 1000);
    if (refused !== undefined) metrics.refusals.inc({ condition: refused.refused });
    if (logger.isLevelEnabled("debug")) {
      const { status } = reply;
      logger.debug(
        { keyId, status, refused: refused?.refused, elapsedMs: Number(elapsedMs.toFixed(3)) },
        "request",
      );
    }
    return origin === undefined ? reply : withCors(reply);
  }
}

function forAuthentication(exchange: Exchange, deps: PipelineDependencies): AuthenticateDependencies {
  const { profile, keys, failures, monotonicMs, clientAddress } = deps;
  return {
    profile,
    keys,
    failures,
    monotonicMs,
    clientAddress: () =>
      clientAddress.of({ peer: exchange.peerAddress(), forwardedFor: exchange.head.forwardedFor }),
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
