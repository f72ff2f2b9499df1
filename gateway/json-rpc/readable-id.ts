import { scanRequest } from "./scan.ts";
import type { ScanLimits } from "./scan-result.ts";

/** Above this a refusal is not worth reading the body for: whoever has no key could make us parse megabytes. */
const bytesMax = 16_384;

/** The id to put into the refusal of a request that was not parsed: its own where it is one call, else `null`. */
export function readableId(body: Uint8Array, limits: ScanLimits): string {
  if (body.length > bytesMax) return "null";
  const scanned = scanRequest(body, limits);
  if (scanned.kind === "batch") return "null";
  return (scanned.kind === "single" ? scanned.call.idText : scanned.idText) ?? "null";
}
