import { scanRequest } from "./scan.ts";
import type { ScanLimits } from "./scan-result.ts";

/** A longer body is not parsed for the id of its refusal: a client without a key could make us parse megabytes. */
const bytesMax = 16_384;

/** The id for the refusal of a request that was not parsed: that of a single call, else `null`. */
export function readableId(body: Uint8Array, limits: ScanLimits): string {
  if (body.length > bytesMax) return "null";
  const scanned = scanRequest(body, limits);
  if (scanned.kind === "batch") return "null";
  return (scanned.kind === "single" ? scanned.call.idText : scanned.idText) ?? "null";
}
