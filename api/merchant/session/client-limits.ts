import type { FastifyRequest } from "fastify";
import { type ClientAddress, limitAddress } from "../../../lib/http-service/client-address.ts";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { RequestLimiter } from "../../limits/request-limiter.ts";
import { addressOf } from "../../rest/charge.ts";

/** Refuses a client that asks too often; exact over all processes while Redis answers. */
export type ClientLimit = (request: FastifyRequest) => Promise<Refusal | undefined>;

/** A limit by client address (IPv6 by /64) beside the general one; `name` is told in RateLimit fields and counted under. */
export function createClientLimit({
  name,
  what,
  limiter,
  clientAddress,
}: {
  name: string;
  /** What is counted, as the refusal's sentence begins: "nonces". */
  what: string;
  limiter: RequestLimiter;
  clientAddress: ClientAddress;
}): ClientLimit {
  return async (request) => {
    const client = `${name}:${limitAddress(addressOf(request, clientAddress))}`;
    const { allowed, limit, remaining, windowSeconds, resetMs } = (await limiter.charge(client, 1)).standing;
    if (allowed) return undefined;
    const told = { name, limit, used: limit - remaining, windowMs: windowSeconds * 1000, resetMs };
    return refusal(
      "rate_limited",
      `At most ${limit} ${what} in ${windowSeconds} seconds; Retry-After tells when the next is possible`,
      { retryAfterMs: resetMs, limits: [told] },
    );
  };
}
