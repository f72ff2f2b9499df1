import type { FastifyReply, FastifyRequest } from "fastify";
import { type ClientAddress, limitAddress } from "../../lib/http-service/client-address.ts";
import { type RateLimit, rateLimitFields } from "../../lib/http-service/rate-limit-fields.ts";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { RequestLimiter } from "../limits/request-limiter.ts";

export type Charge = (charged: {
  request: FastifyRequest;
  reply: FastifyReply;
  cost: number;
}) => Promise<Refusal | { refund(): void }>;

/** Charges a request to whoever is named, and tells it what is left. */
export type ChargeClient = (charged: {
  reply: FastifyReply;
  client: string;
  cost: number;
}) => Promise<Refusal | { refund(): void }>;

export function createChargeClient({ limiter }: { limiter: RequestLimiter }): ChargeClient {
  return async ({ reply, client, cost }) => {
    const { standing, refund } = await limiter.charge(client, cost);
    const { allowed, limit, remaining, windowSeconds, resetMs } = standing;
    const told: RateLimit = {
      name: "default",
      limit,
      used: limit - remaining,
      windowMs: windowSeconds * 1000,
      resetMs,
    };
    reply.headers(rateLimitFields([told]));
    if (allowed) return { refund };
    return refusal(
      "rate_limited",
      `At most ${limit} requests in ${windowSeconds} seconds; Retry-After tells when the next is possible`,
      { retryAfterMs: resetMs },
    );
  };
}

/** Charges a request to its client's address. */
export function createCharge({
  chargeClient,
  clientAddress,
}: {
  chargeClient: ChargeClient;
  clientAddress: ClientAddress;
}): Charge {
  return ({ request, reply, cost }) =>
    chargeClient({ reply, client: limitAddress(addressOf(request, clientAddress)), cost });
}

/** The client's address; no header but those of trusted proxies has a say. */
export function addressOf({ socket, headers }: FastifyRequest, clientAddress: ClientAddress): string {
  const forwarded = headers["x-forwarded-for"];
  return clientAddress.of({
    peer: socket.remoteAddress ?? "",
    forwardedFor: Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
  });
}
