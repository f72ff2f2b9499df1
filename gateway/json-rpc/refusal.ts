import { type ErrorCondition, errorTable } from "../../lib/errors.ts";

/** Why a request or a call is not carried out, as the client gets it. A value, not an exception. */
export type Refusal = {
  refused: ErrorCondition;
  /** What is wrong and what to do about it. Never the client's own text, never an inner error's. */
  message: string;
  /** Further members of `error.data`. */
  data?: Readonly<Record<string, string | number | boolean>>;
  /** Headers of the HTTP answer, where the whole request is refused. */
  headers?: Readonly<Record<string, string>>;
};

export function refusal(
  refused: ErrorCondition,
  message: string,
  more: Pick<Refusal, "data" | "headers"> = {},
): Refusal {
  return { refused, message, ...more };
}

/** The key has reached its bound on calls in flight. The headers are for an HTTP answer to this call alone. */
export const tooManyOnTheirWay = refusal(
  "rate_limited",
  "This API key has too many calls in flight; wait for their answers before sending more",
  { data: { retryAfterMs: 1000 }, headers: { "Retry-After": "1" } },
);

export function isRefusal(value: object): value is Refusal {
  return "refused" in value;
}

/** The `error` member of a JSON-RPC response object (JSON-RPC 2.0 section 5.1) as JSON text. */
export function rpcErrorText({ refused, message, data }: Refusal): string {
  const { rpcCode, code } = errorTable[refused];
  return JSON.stringify({ code: rpcCode, message, data: { code, ...data } });
}
