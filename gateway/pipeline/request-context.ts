import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import type { Profile } from "../../lib/keys/api-key.ts";
import type { AnswerBudget } from "../answer-budget/answer-budget.ts";
import type { KeyCache } from "../auth/key-cache.ts";
import type { Cache } from "../cache/cache.ts";
import type { GatewayLimits } from "../config.ts";
import type { ExplorerClient } from "../explorer/explorer-client.ts";
import type { OpenAnswers } from "../explorer/open-answers.ts";
import { refusal } from "../json-rpc/refusal.ts";
import type { FailureLimiter } from "../limits/failure-limiter.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { MethodTable } from "../methods/method-table.ts";
import type { GatewayMetrics } from "../metrics.ts";
import type { Exchange } from "../server/exchange.ts";
import type { DeadlyCalls } from "../traces/deadly-calls.ts";
import type { TraceSettings } from "../traces/trace-settings.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { FaucetClient } from "./faucet-client.ts";
import type { AnswerOwnMethod } from "./own-methods.ts";
import { type Response, rpcErrorResponse } from "./response.ts";
import type { CheckTraceGas } from "./trace-gas.ts";

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
  explorer: Pick<ExplorerClient, "ask">;
  openAnswers: Pick<OpenAnswers, "take">;
  /** Whether clients reach this process over TLS. */
  isTls: boolean;
  metrics: GatewayMetrics;
  logger: Logger;
  monotonicMs: () => number;
};

/**
 * What one request, or one frame of a WebSocket, has with it on its way through the stages.
 *
 * Stages go on by callbacks: usually everything but a validator's answer is there at once, and promises took half as long
 * as all the rest. An error ends in `fail`, wherever it is thrown.
 */
export type RequestContext = {
  readonly deps: PipelineDependencies;
  /** The body is there: the request counts as in flight from here on. False where that is one too many. */
  enter(): boolean;
  /** The first response counts. A later one gives back what it holds. */
  respond(response: Response): void;
  fail(error: unknown): void;
};

/** Answers one kind of HTTP request. May throw; the caller hands that to `fail`. */
export type Route = (exchange: Exchange, context: RequestContext) => void;

/**
 * Makes contexts, and bounds how many requests are in flight at once. What is in `use` when a context is opened counts for its
 * request to the end, so one request never meets two configurations.
 */
export function createRequestContexts(first: PipelineDependencies) {
  const { metrics, logger } = first;
  let inUse = first;
  let inFlight = 0;
  metrics.showInFlight(() => inFlight);

  /** `onResponse` is called once. */
  function open(onResponse: (response: Response) => void): RequestContext {
    const deps = inUse;
    let isOver = false;
    let isInFlight = false;

    function respond(response: Response): void {
      if (isOver) {
        response.reply.release?.();
        return;
      }
      isOver = true;
      if (isInFlight) inFlight -= 1;
      onResponse(response);
    }

    return {
      deps,
      enter() {
        isInFlight = inFlight < deps.limits.requestsInFlightMax;
        if (isInFlight) inFlight += 1;
        return isInFlight;
      },
      respond,
      fail(error) {
        const requestId = randomUUID();
        logger.error({ err: error, requestId }, "request failed unexpectedly");
        respond(rpcErrorResponse(refusal("internal_error", unexpected, { data: { requestId } })));
      },
    };
  }

  return {
    open,
    /** For the requests that begin from now on. */
    use(next: PipelineDependencies): void {
      inUse = next;
    },
  };
}

export const unexpected = "Something went wrong on our side; tell your operator the requestId";
