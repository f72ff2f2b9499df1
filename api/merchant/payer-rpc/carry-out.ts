import type { Logger } from "pino";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { RequestLimiter, Standing } from "../../limits/request-limiter.ts";
import { pointsOf } from "./methods.ts";
import type { PayerRpcMetrics } from "./metrics.ts";
import { notForThis, type Outcome } from "./outcome.ts";
import type { PayerMethod } from "./payer-method.ts";
import { type InvalidRequest, isInvalid, type RpcRequest } from "./read-request.ts";

/** What came of a call, and what is left of its client's limit. */
export type CarriedOut = { outcome: Outcome; standing: Standing };

export type CarryOut = (call: RpcRequest | InvalidRequest, client: string) => Promise<CarriedOut>;

/**
 * A call's way: its client's limit, whether there is such a method here, how many calls of the client wait, the method. A
 * notification is charged and not carried out: nobody could be told what came of a payment.
 */
export function createCarryOut({
  methods,
  limiter,
  inFlightPerClientMax,
  metrics,
  explain,
  logger,
}: {
  methods: ReadonlyMap<string, PayerMethod>;
  limiter: RequestLimiter;
  inFlightPerClientMax: () => number;
  metrics: PayerRpcMetrics;
  /** What a client is told of a database that is away. */
  explain: (error: unknown) => Refusal | undefined;
  logger: Pick<Logger, "error">;
}): CarryOut {
  const inFlight = new Map<string, number>();

  async function run(call: RpcRequest, client: string): Promise<Outcome> {
    const method = methods.get(call.method);
    if (method === undefined) return notForThis;
    const waiting = inFlight.get(client) ?? 0;
    if (waiting >= inFlightPerClientMax()) return tooManyInFlight;
    inFlight.set(client, waiting + 1);
    try {
      return await method(call.params, client);
    } catch (error) {
      const explained = explain(error);
      if (explained !== undefined) return explained;
      logger.error({ err: error, method: call.method }, "a call of a wallet failed");
      return internal;
    } finally {
      const left = (inFlight.get(client) ?? 1) - 1;
      if (left === 0) inFlight.delete(client);
      else inFlight.set(client, left);
    }
  }

  async function judge(call: RpcRequest | InvalidRequest, client: string, isAllowed: boolean) {
    if (!isAllowed) return undefined;
    if (isInvalid(call)) return call.invalid;
    return call.id === undefined ? notCarriedOut : run(call, client);
  }

  return async (call, client) => {
    const { standing } = await limiter.charge(client, isInvalid(call) ? 1 : pointsOf(call));
    const outcome = (await judge(call, client, standing.allowed)) ?? limited(standing);
    metrics.count(isInvalid(call) ? "" : call.method, outcome);
    return { outcome, standing };
  };
}

function limited({ limit, windowSeconds, resetMs }: Standing): Refusal {
  return refusal(
    "rate_limited",
    `At most ${limit} calls in ${windowSeconds} seconds; try again when retryAfterMs is over`,
    { retryAfterMs: resetMs },
  );
}

const tooManyInFlight = refusal(
  "rate_limited",
  "Too many calls of this address wait for an answer; send the next when they have come",
  { retryAfterMs: 1000 },
);
const notCarriedOut = refusal(
  "invalid_request",
  "A notification is not carried out here; give the call an id",
);
const internal = refusal("internal_error", "Something went wrong on our side");
