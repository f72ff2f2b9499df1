import { refusal } from "../../json-rpc/refusal.ts";
import type { Call } from "../../methods/call.ts";
import { rawTransactionHex } from "../../upstream/pool/raw-transaction.ts";

/** EIP-4844. Its bytes begin with this. */
const blobType = "03";

/**
 * Which transactions are forwarded: those that are no longer than other nodes accept, and without blobs. A validator finds
 * whatever else is wrong with one, and says so in its own words.
 */
export function checkTransaction(call: Call, { bytesMax }: { bytesMax: number }): Call {
  if (call.kind === "refused" || call.rule.name !== "eth_sendRawTransaction") return call;
  const { idText, paramsText } = call;
  const hex = rawTransactionHex(paramsText);
  if (hex === undefined) return call;
  const refused = (message: string): Call => ({
    idText,
    kind: "refused",
    refusal: refusal("invalid_params", message, { data: { transactionBytesMax: bytesMax } }),
    bytes: paramsText.length,
  });
  if (hex.length > 2 * bytesMax) return refused(`A transaction may have at most ${bytesMax} bytes`);
  return hex.startsWith(blobType)
    ? refused("Blob transactions (type 3) are not accepted on this network; send another type")
    : call;
}
