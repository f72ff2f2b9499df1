import { createHmac, randomBytes } from "node:crypto";

export type ClaimIds = ReturnType<typeof createClaimIds>;

/** The ids of a claim: its own, and its id in the period before, if it was sent first then. */
export type ClaimIdPair = { id: string; earlierId: string };

/**
 * Claims' ids: 16 bytes, as many as a payment's data can carry (payment-data.ts). With an Idempotency-Key they follow from
 * it, so that a claim that Redis has lost and that is sent again finds its payment on the chain instead of a second one.
 * Without one they are random.
 *
 * A key is remembered for `idempotencyMs` and means another claim after that, so the id includes the number of the period.
 * Because of `secret` nobody can try out which client or key is behind an id on the chain.
 */
export function createClaimIds({ secret, idempotencyMs }: { secret: Uint8Array; idempotencyMs: number }) {
  return {
    of({
      scope,
      idempotencyKey,
      address,
      nowMs,
    }: {
      scope: string;
      idempotencyKey: string | undefined;
      address: string;
      nowMs: number;
    }): ClaimIdPair {
      if (idempotencyKey === undefined) {
        const id = randomBytes(idBytes).toString("hex");
        return { id, earlierId: id };
      }
      const period = Math.floor(nowMs / idempotencyMs);
      const derive = (at: number) =>
        createHmac("sha256", secret)
          .update(JSON.stringify([scope, idempotencyKey, address.toLowerCase(), at]))
          .digest("hex")
          .slice(0, 2 * idBytes);
      return { id: derive(period), earlierId: derive(period - 1) };
    },
  };
}

const idBytes = 16;
