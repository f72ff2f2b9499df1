import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { readAddress } from "../allowlist/claim-address.ts";

/** The recipient: an address with its checksum. */
export function readRecipient(address: unknown): { address: string } | Refusal {
  const read = readAddress(address);
  if ("address" in read) return read;
  return refusal("invalid_params", `The claim cannot be read: ${read.wrong}`, {
    errors: [{ pointer: "/address", message: read.wrong }],
    reason: read.reason,
  });
}
