import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { GatewayLimits } from "./config.ts";
import type { Exchange, Reply } from "./http-server.ts";
import { readableId } from "./json-rpc/readable-id.ts";
import type { MethodTable } from "./method-table.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { isRefusal, type Refusal, refusal } from "./refusal.ts";
import { answer, answerRefusal } from "./stages/answer.ts";
import { authenticate, type FindKey } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { forward } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { read } from "./stages/read.ts";
import type { Upstream } from "./upstream/upstream.ts";

export type PipelineDependencies = {
  limits: GatewayLimits;
  findKey: FindKey;
  methods: MethodTable;
  upstream: Upstream;
  metrics: GatewayMetrics;
  logger: Logger;
  /** Milliseconds since the epoch, for what expires. */
  now: () => number;
};

/** A request's way through the gateway. Each line is a stage; a refusal ends the way with its answer. */
async function travel(exchange: Exchange, deps: PipelineDependencies): Promise<Reply & { keyId?: string }> {
  const { limits, metrics, methods, upstream } = deps;

  const body = await read(exchange, limits);
  if (body === "aborted") return nobodyWaits;
  if (isRefusal(body)) return refuse(body, "null", metrics);

  const key = await authenticate(exchange.head, deps);
  if (isRefusal(key)) return refuse(key, readableId(body, limits), metrics);

  const request = parse(body, limits);
  if (isRefusal(request)) return refuse(request, request.idText, metrics);

  const headNumber = () => upstream.headNumber();
  const calls = await Promise.all(request.calls.map((call) => authorize(call, { key, methods, headNumber })));

  const outcomes = await forward(calls, { upstream });

  for (const call of calls) if (call.kind === "forward") metrics.calls.inc({ method: call.rule.name });
  for (const outcome of outcomes)
    if (isRefusal(outcome)) metrics.refusals.inc({ condition: outcome.refused });
  return { ...answer({ isBatch: request.isBatch, calls }, outcomes), keyId: key.id };
}

/** Makes the function that answers every HTTP request. It never rejects. */
export function createPipeline(deps: PipelineDependencies): (exchange: Exchange) => Promise<Reply> {
  const { limits, metrics, logger } = deps;
  let inFlight = 0;

  return async function handle(exchange) {
    const started = performance.now();
    inFlight += 1;
    metrics.requestsInFlight.set(inFlight);
    try {
      const { keyId, ...reply } =
        inFlight > limits.requestsInFlightMax
          ? refuse(overloaded, "null", metrics)
          : await travel(exchange, deps);
      record(reply, keyId, performance.now() - started);
      return reply;
    } catch (error) {
      const requestId = randomUUID();
      logger.error({ err: error, requestId }, "request failed unexpectedly");
      const failed = refusal("internal_error", "Something went wrong on our side", { data: { requestId } });
      const reply = refuse(failed, "null", metrics);
      record(reply, undefined, performance.now() - started);
      return reply;
    } finally {
      inFlight -= 1;
      metrics.requestsInFlight.set(inFlight);
    }
  };

  function record(reply: Reply, keyId: string | undefined, elapsedMs: number): void {
    metrics.requests.inc({ status: reply.status });
    metrics.requestSeconds.observe(elapsedMs / 1000);
    if (logger.isLevelEnabled("debug")) {
      logger.debug(
        { keyId, status: reply.status, elapsedMs: Math.round(elapsedMs * 1000) / 1000 },
        "request",
      );
    }
  }
}

function refuse(refused: Refusal, idText: string, metrics: GatewayMetrics): Reply & { keyId?: string } {
  metrics.refusals.inc({ condition: refused.refused });
  return answerRefusal(refused, idText);
}

/** Written to nobody: the connection is gone. */
const nobodyWaits: Reply = { status: 400, headers: {}, body: undefined, close: true };

const overloaded: Refusal = refusal(
  "upstream_unavailable",
  "The gateway carries out as many requests as it can; try again shortly",
  { headers: { "Retry-After": "1", Connection: "close" } },
);
