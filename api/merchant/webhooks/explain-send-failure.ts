import { AddressRefusedError } from "./guarded-agent.ts";
import { NameUnknownError } from "./look-up-name.ts";

/** Why a webhook did not arrive, for whom it is for. Never an inner error's text: it could tell of the network that we are in. */
export function explainSendFailure(error: unknown, { timeoutMs }: { timeoutMs: number }): string {
  const failure = rootOf(error);
  if (failure instanceof AddressRefusedError)
    return "The address is none that everybody reaches, so nothing was sent";
  if (failure instanceof NameUnknownError) return "The host has no address";
  const { name, code } = namesOf(failure);
  if (name === "TimeoutError" || code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return `No whole answer within ${timeoutMs / 1000} seconds`;
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "No connection in time";
  if (code === "ECONNREFUSED") return "Nobody listens at the address";
  if (/^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code) || code === "EPROTO") {
    return "The host's certificate or its TLS cannot be trusted";
  }
  if (/^(?:HPE_|UND_ERR_HEADERS_OVERFLOW)/.test(code)) return "The answer is none of HTTP";
  return "The connection ended before the answer did";
}

/** Where several addresses were tried, the first one's failure says it. */
function rootOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

function namesOf(error: unknown): { name: string; code: string } {
  if (!(error instanceof Error)) return { name: "", code: "" };
  return { name: error.name, code: "code" in error ? String(error.code) : "" };
}
