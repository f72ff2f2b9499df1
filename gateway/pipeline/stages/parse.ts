import type { GatewayLimits } from "../../config.ts";
import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import { scanRequest } from "../../json-rpc/scan.ts";
import type { ScannedCall } from "../../json-rpc/scan-result.ts";

/** A JSON-RPC request as it was sent: one call or a batch. */
export type ParsedRequest = { isBatch: boolean; calls: readonly ScannedCall[] };

/**
 * The body's bytes to JSON-RPC calls (JSON-RPC 2.0 sections 4 and 6). A single call that is not a request object refuses
 * the request; in a batch it is that item's own error.
 */
export function parse(
  body: Uint8Array,
  limits: GatewayLimits,
): ParsedRequest | (Refusal & { idText: string }) {
  const scanned = scanRequest(body, limits);
  if (scanned.kind === "batch") return { isBatch: true, calls: scanned.calls };
  if (scanned.kind === "refused") {
    const condition = scanned.reason === "parse" ? "parse_error" : "invalid_request";
    return { ...refusal(condition, scanned.message), idText: scanned.idText };
  }
  const { call } = scanned;
  if (call.kind === "invalid") {
    return { ...refusal("invalid_request", call.message), idText: call.idText };
  }
  return { isBatch: false, calls: [call] };
}
