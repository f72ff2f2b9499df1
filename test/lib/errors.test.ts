import t from "tap";
import { errorTable } from "../../lib/errors.ts";

/** The codes of the published interface and the status that each of them has. */
const published: Readonly<Record<string, readonly string[]>> = {
  400: ["invalid_request", "request_refused"],
  401: ["api_key_missing", "api_key_invalid", "api_key_expired", "api_key_revoked", "session_required"],
  402: ["payment_required"],
  403: ["insufficient_scope", "insufficient_permission", "not_allowlisted", "forbidden"],
  404: ["not_found"],
  405: ["method_not_allowed"],
  // HTTP's own words for a request that cannot be used as it is.
  406: ["invalid_request"],
  409: ["key_limit_reached", "payment_already_used", "idempotency_in_progress"],
  413: ["body_too_large"],
  414: ["invalid_request"],
  415: ["unsupported_media_type"],
  422: ["idempotency_key_reused"],
  429: ["rate_limited"],
  500: ["internal_error"],
  503: ["upstream_unavailable", "network_stalled", "faucet_empty"],
};

t.test("the table holds the published codes, each with its status, and no others", async (t) => {
  const held = Object.groupBy(Object.values(errorTable), ({ status }) => String(status));
  t.same(
    Object.fromEntries(
      Object.entries(held).map(([status, rows = []]) => [status, [...new Set(rows.map(({ code }) => code))]]),
    ),
    published,
  );
});

t.test("JSON-RPC numbers are the specification's, EIP-1474's, or of the range left to servers", async (t) => {
  for (const [condition, { rpcCode }] of Object.entries(errorTable)) {
    const isSpecified = rpcCode === -32700 || (rpcCode <= -32600 && rpcCode >= -32603);
    t.ok(isSpecified || (rpcCode <= -32000 && rpcCode >= -32099), condition);
  }
});
