import { z } from "zod";
import { readAddress } from "../allowlist/claim-address.ts";
import { type Refusal, refusal } from "../refusal.ts";

/** A claim's body, with the honeypot not looked at yet. */
export type ClaimBody = { address: string; website: unknown };

/** Reads `{address, website}`; other members are ignored. */
export function readClaim(body: unknown): ClaimBody | Refusal {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) {
    return refusal("invalid_params", "The body must be a JSON object with the members address and website");
  }
  const read = readAddress(parsed.data.address);
  if ("address" in read) return { address: read.address, website: parsed.data.website };
  return refusal("invalid_params", `The claim cannot be read: ${read.wrong}`, {
    errors: [{ pointer: "/address", message: read.wrong }],
  });
}

const bodySchema = z.object({ address: z.unknown().optional(), website: z.unknown().optional() });
