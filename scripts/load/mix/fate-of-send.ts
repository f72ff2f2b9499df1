import type { Fault, Outcome } from "../request.ts";

/** `refused`: no validator keeps it, so its nonce is free. `unknown`: the chain has to be asked. */
export type SendFate = "accepted" | "refused" | "unknown";

/** What validators say before a transaction reaches their pool. A word about nonces is none of these: the chain is asked then. */
const refusals =
  /insufficient funds|upfront cost|intrinsic gas|gas limit|gas price|underpriced|fee cap|oversized|balance/i;
const aboutNonces = /nonce|replacement|already known|known transaction/i;

/**
 * What became of a sent transaction. The gateway refuses with 4xx what it has not forwarded; a request that was never sent
 * has used no nonce. Everything else that is no hash (a timeout, 5xx, an error of another kind) may have reached a pool.
 */
export function fateOfSend(outcome: Outcome): SendFate {
  if (outcome.ok) return "accepted";
  if (outcome.wasNotSent) return "refused";
  const [fault] = outcome.faults;
  return fault !== undefined && isRefusal(fault) ? "refused" : "unknown";
}

function isRefusal({ kind, code, message }: Fault): boolean {
  if (kind === "http") return /^4\d\d\b/.test(code) && !code.startsWith("408");
  return kind === "json-rpc" && refusals.test(message) && !aboutNonces.test(message);
}
