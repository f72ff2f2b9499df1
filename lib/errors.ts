/**
 * Every error that a client of Tollgate can be told, in one table.
 *
 * A row is a *condition* (the key). `code` is the stable word that clients match on: in `error.data.code` of a
 * JSON-RPC error object and in `code` of a problem document (RFC 9457). `status` is the HTTP status where the
 * condition concerns the whole request. `rpcCode` is the number in a JSON-RPC error object: JSON-RPC 2.0 section 5.1
 * for its own conditions, EIP-1474 for -32005 (limit exceeded) and -32002 (resource unavailable), and for the rest
 * numbers from the end of the range left to servers (-32099 … -32000), where EIP-1474 and Besu have none, so that no
 * wallet takes a missing key for a transaction with a wrong nonce. Filters and subscriptions that are not there have
 * Besu's number and words, by which clients know to make them anew. Several conditions can share a code, never the
 * other way round.
 */
export const errorTable = {
  parse_error: row(400, "invalid_request", -32700, "The body is not valid JSON"),
  invalid_request: row(400, "invalid_request", -32600, "The request is not a JSON-RPC 2.0 request"),
  invalid_params: row(
    400,
    "invalid_request",
    -32602,
    "A parameter is missing, of the wrong kind or out of bounds",
  ),
  answer_too_large: row(
    400,
    "invalid_request",
    -32602,
    "The answer is longer than the gateway holds for one request: ask for less, or ask it alone",
  ),
  request_refused: row(400, "request_refused", -32600, "The request was refused"),
  api_key_missing: row(401, "api_key_missing", -32090, "No API key was sent"),
  api_key_invalid: row(401, "api_key_invalid", -32090, "The API key is unknown or mistyped"),
  api_key_expired: row(401, "api_key_expired", -32090, "The API key's validity period has elapsed"),
  api_key_revoked: row(401, "api_key_revoked", -32090, "The API key was revoked"),
  session_required: row(401, "session_required", -32090, "A wallet session is required"),
  sign_in_refused: row(401, "session_required", -32090, "The wallet's sign-in was refused"),
  payment_required: row(402, "payment_required", -32091, "A payment is required first"),
  insufficient_scope: row(403, "insufficient_scope", -32091, "The API key lacks the scope for this"),
  insufficient_permission: row(
    403,
    "insufficient_permission",
    -32091,
    "The API key lacks the permission for this",
  ),
  method_not_permitted: row(
    403,
    "insufficient_permission",
    -32601,
    "The method is beyond the API key's permissions",
  ),
  not_allowlisted: row(403, "not_allowlisted", -32091, "The address is not on the allowlist"),
  forbidden: row(403, "forbidden", -32091, "This is not allowed"),
  method_forbidden: row(403, "forbidden", -32601, "The method is never forwarded to a validator"),
  not_found: row(404, "not_found", -32094, "There is nothing here"),
  filter_not_found: row(404, "not_found", -32000, "The key has no such filter, or it has ended"),
  subscription_not_found: row(404, "not_found", -32000, "The connection has no such subscription"),
  method_not_found: row(404, "not_found", -32601, "The method is unknown"),
  not_acceptable: row(406, "invalid_request", -32600, "The answer has no format that the request accepts"),
  method_not_allowed: row(405, "method_not_allowed", -32600, "The HTTP method is not allowed here"),
  key_limit_reached: row(409, "key_limit_reached", -32095, "The wallet has reached its limit of active keys"),
  payment_already_used: row(409, "payment_already_used", -32095, "The payment was used for another order"),
  idempotency_in_progress: row(
    409,
    "idempotency_in_progress",
    -32095,
    "The same request is still in progress",
  ),
  body_too_large: row(413, "body_too_large", -32600, "The body is larger than allowed"),
  uri_too_long: row(414, "invalid_request", -32600, "The URL is longer than allowed"),
  unsupported_media_type: row(415, "unsupported_media_type", -32600, "The body is not application/json"),
  idempotency_key_reused: row(
    422,
    "idempotency_key_reused",
    -32095,
    "The idempotency key came with another request",
  ),
  rate_limited: row(429, "rate_limited", -32005, "The request limit is reached"),
  internal_error: row(500, "internal_error", -32603, "Something went wrong on our side"),
  upstream_unavailable: row(503, "upstream_unavailable", -32002, "No validator answers at the moment"),
  call_lost: row(503, "upstream_unavailable", -32002, "A validator failed while it ran the call"),
  traces_withheld: row(503, "upstream_unavailable", -32002, "Traces are not available at the moment"),
  service_unavailable: row(503, "upstream_unavailable", -32002, "The service cannot do this at the moment"),
  rate_stale: row(503, "upstream_unavailable", -32002, "The exchange rate is too old at the moment"),
  network_stalled: row(503, "network_stalled", -32002, "The network produces no blocks at the moment"),
  faucet_empty: row(503, "faucet_empty", -32002, "The faucet has no funds at the moment"),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCondition = keyof typeof errorTable;
export type ErrorRow = { status: number; code: string; rpcCode: number; meaning: string };

function row<const Status extends number, const Code extends string, const RpcCode extends number>(
  status: Status,
  code: Code,
  rpcCode: RpcCode,
  meaning: string,
) {
  return { status, code, rpcCode, meaning };
}
