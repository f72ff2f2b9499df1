import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { ChargeRequest, ChargeResult } from "../../limits/budget.ts";
import type { Limiter } from "../../limits/limiter.ts";
import { rateLimitHeaders } from "../../limits/rate-limit-headers.ts";
import type { MaybePromise } from "../../maybe-promise.ts";
import type { Call } from "../../methods/call.ts";

export type Charged = {
  calls: readonly Call[];
  /** RateLimit-Policy, RateLimit and, where a call was refused, Retry-After. */
  headers: Readonly<Record<string, string>>;
  /** Redis does not answer: the limit is this process's own. */
  isDegraded: boolean;
};

/** The cost of a call that is refused before it reaches a validator: to answer it is work too, and so is to read it. */
const refusedCost = 1;
const refusedBytesPerPoint = 32_768;

/**
 * Charges every call of a body to its key, in order, before any is forwarded. A call beyond the budget becomes a refusal of
 * its own; the others go on. The result is there at once while the key has points in this process.
 */
export function charge(
  calls: readonly Call[],
  {
    key,
    limiter,
    requestsPerMinute,
  }: { key: FoundKey; limiter: Pick<Limiter, "charge">; requestsPerMinute: number },
): MaybePromise<Charged> {
  const charging = limiter.charge(asked({ key, requestsPerMinute, costs: calls.map(costOf) }));
  return charging instanceof Promise
    ? charging.then((result) => toCharged(calls, result))
    : toCharged(calls, charging);
}

/** Charges a request that is no JSON-RPC: `refused` where it is beyond the budget. */
export function chargeRequest(
  cost: number,
  {
    key,
    limiter,
    requestsPerMinute,
  }: { key: FoundKey; limiter: Pick<Limiter, "charge">; requestsPerMinute: number },
): MaybePromise<{ refused: Refusal | undefined; headers: Charged["headers"] }> {
  const charging = limiter.charge(asked({ key, requestsPerMinute, costs: [cost] }));
  const toResult = (result: ChargeResult) => {
    const { headers } = toCharged([], result);
    return { headers, refused: result.admitted[0] === true ? undefined : tooMany(result) };
  };
  return charging instanceof Promise ? charging.then(toResult) : toResult(charging);
}

/**
 * A request with a good key that is refused as a whole costs as a call does. Returns the refusal with the headers that every
 * answer to a key has, or the refusal for the key's limit.
 */
export function chargeRefusal(
  refused: Refusal,
  /** `bytes`: what was read of its body. */
  { idText = "null", bytes = 0 }: { idText?: string; bytes?: number },
  key: FoundKey,
  { limiter, limits }: { limiter: Pick<Limiter, "charge">; limits: { requestsPerMinute: number } },
): MaybePromise<Refusal> {
  const charged = charge([{ idText, kind: "refused", refusal: refused, bytes }], {
    key,
    limiter,
    requestsPerMinute: limits.requestsPerMinute,
  });
  const withHeaders = ({ calls: [call], headers }: Charged): Refusal => {
    const why = call?.kind === "refused" ? call.refusal : refused;
    return { ...why, headers: { ...why.headers, ...headers } };
  };
  return charged instanceof Promise ? charged.then(withHeaders) : withHeaders(charged);
}

function costOf(call: Call): number {
  if (call.kind === "refused") return refusedCost + Math.floor((call.bytes ?? 0) / refusedBytesPerPoint);
  const { cost, bytesPerPoint } = call.rule;
  return cost + Math.floor(call.paramsText.length / bytesPerPoint);
}

function asked({
  key: { id, team, limitPerMinute, teamSettings },
  requestsPerMinute,
  costs,
}: {
  key: FoundKey;
  requestsPerMinute: number;
  costs: readonly number[];
}): ChargeRequest {
  return {
    keyId: id,
    team,
    limitPerMinute: limitPerMinute ?? teamSettings.limitPerMinute ?? requestsPerMinute,
    teamCapPerMinute: teamSettings.capPerMinute,
    costs,
  };
}

function toCharged(calls: readonly Call[], charged: ChargeResult): Charged {
  const { policy, limit, retryAfter } = rateLimitHeaders(charged);
  if (retryAfter === undefined) {
    const headers = { "RateLimit-Policy": policy, RateLimit: limit };
    return { calls, headers, isDegraded: charged.degraded };
  }
  const refused = tooMany(charged);
  return {
    calls: calls.map((call, index) =>
      charged.admitted[index] === true ? call : { idText: call.idText, kind: "refused", refusal: refused },
    ),
    headers: { "RateLimit-Policy": policy, RateLimit: limit, "Retry-After": retryAfter },
    isDegraded: charged.degraded,
  };
}

function tooMany({ limit, retryAfterMs }: ChargeResult): Refusal {
  return refusal("rate_limited", `Limit of ${limit} calls a minute reached`, {
    data: { retryAfterMs: Math.ceil(retryAfterMs) },
  });
}
