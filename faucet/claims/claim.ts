import { z } from "zod";

/** `received → signed → broadcast → confirmed | refused`. A claim that lost its nonce to another goes back to received. */
const statuses = ["received", "signed", "broadcast", "confirmed", "refused"] as const;

export type Claim = z.output<typeof claimSchema>;

/** A claim whose transaction is stored. */
export type SignedClaim = Claim & { nonce: number; raw: string; txHash: string };

/** 16 bytes (claim-ids.ts). */
export const claimIdPattern = /^[0-9a-f]{32}$/;

const wei = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => BigInt(text));
const count = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => Number(text));

/** The hash in Redis, as `lib/redis/keys/faucet.ts` describes it. */
const claimSchema = z.object({
  id: z.string().regex(claimIdPattern),
  address: z.string(),
  amountWei: wei,
  status: z.enum(statuses),
  createdAtMs: count,
  scope: z.string(),
  recipientChecked: z.enum(["0", "1"]).transform((flag) => flag === "1"),
  nonce: count.optional(),
  raw: z.string().optional(),
  txHash: z.string().optional(),
  givenUp: z.string().optional(),
  blockNumber: count.optional(),
  endedAtMs: count.optional(),
  reason: z.string().optional(),
});

/** Reads the fields of a claim; undefined if there are none. Throws if they are not those of a claim. */
export function parseClaim(fields: Readonly<Record<string, string>>): Claim | undefined {
  return Object.keys(fields).length === 0 ? undefined : claimSchema.parse(fields);
}

export function isSigned(claim: Claim): claim is SignedClaim {
  return claim.nonce !== undefined && claim.raw !== undefined && claim.txHash !== undefined;
}
