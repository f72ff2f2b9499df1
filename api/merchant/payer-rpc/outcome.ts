import { errorTable } from "../../../lib/errors.ts";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";

/** The `error` of a JSON-RPC response object (JSON-RPC 2.0 section 5.1). */
export type RpcErrorObject = { code: number; message: string; data?: unknown };

/** What came of a call: its result as JSON text, what the chain answered in its place, or why it was not carried out. */
export type Outcome = { json: string } | { error: RpcErrorObject } | Refusal;

/** An id as clients send it; undefined where there is none, so that nobody waits for an answer. */
export type RpcId = string | number | null;

/** A response object as JSON text. */
export function answerText(id: RpcId, outcome: Outcome): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if ("json" in outcome) return `${head}"result":${outcome.json}}`;
  const error = isRefusal(outcome) ? errorOf(outcome) : outcome.error;
  return `${head}"error":${JSON.stringify(error)}}`;
}

function errorOf({ refused, detail, retryAfterMs }: Refusal): RpcErrorObject {
  const { rpcCode, code } = errorTable[refused];
  const data = retryAfterMs === undefined ? { code } : { code, retryAfterMs };
  return { code: rpcCode, message: detail, data };
}

/** Said in every refusal of what is no payment. */
const purpose =
  "This RPC is for paying: it reads what a wallet needs for that, and sends payments of orders and invoices of this site";

/** For a method that is not of the table. */
export const notForThis = refusal(
  "method_not_found",
  `${purpose}. For anything else use the network's gateway with an API key`,
);

/** For a transaction, an estimate or a call that is about something else. */
export function noPayment(why: string): Refusal {
  return refusal("request_refused", `${why}. ${purpose}`);
}

export const busy = refusal(
  "service_unavailable",
  "Too many calls are waiting for the network at the moment; try again shortly",
  { retryAfterMs: 1000 },
);

export const chainAway = refusal(
  "upstream_unavailable",
  "The network cannot be asked at the moment; try again shortly",
  { retryAfterMs: 1000 },
);
