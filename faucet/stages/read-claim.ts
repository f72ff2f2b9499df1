import { z } from "zod";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";

/** A claim's body. Its members are not checked yet. */
export type ClaimBody = { address: unknown; website: unknown };

/** Reads `{address, website}`; other members are ignored. */
export function readClaim(body: unknown): ClaimBody | Refusal {
  const parsed = bodySchema.safeParse(body);
  if (parsed.success) return { address: parsed.data.address, website: parsed.data.website };
  return refusal("invalid_params", "The body must be a JSON object with the members address and website");
}

const bodySchema = z.object({ address: z.unknown().optional(), website: z.unknown().optional() });
