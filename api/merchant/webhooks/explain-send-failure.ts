import { AddressRefusedError } from "./guarded-agent.ts";
import { NameUnknownError } from "./look-up-name.ts";

/** Why a webhook did not arrive, in words that stand in its log. */
const failures = {
  notPublic: "The address is none that everybody reaches, so nothing was sent",
  noAddress: "The host has no address",
  late: "No whole answer within",
  noConnection: "No connection in time",
  refused: "Nobody listens at the address",
  tls: "The host's certificate or its TLS cannot be trusted",
  notHttp: "The answer is none of HTTP",
  ended: "The connection ended before the answer did",
} as const;

export type SendFailure = keyof typeof failures;
const sendFailures = [
  ...(["notPublic", "noAddress", "late", "noConnection"] as const),
  ...(["refused", "tls", "notHttp", "ended"] as const),
];

/** Which failure a log's words are of, for pages in other languages; undefined for any others. */
export function sendFailureOf(words: string): SendFailure | undefined {
  return sendFailures.find((key) => words.startsWith(failures[key]));
}

/** Why a webhook did not arrive, for whom it is for. Never an inner error's text: it could tell of the network that we are in. */
export function explainSendFailure(error: unknown, { timeoutMs }: { timeoutMs: number }): string {
  const failure = failureOf(error);
  return failure === "late" ? `${failures.late} ${timeoutMs / 1000} seconds` : failures[failure];
}

function failureOf(error: unknown): SendFailure {
  const failure = rootOf(error);
  if (failure instanceof AddressRefusedError) return "notPublic";
  if (failure instanceof NameUnknownError) return "noAddress";
  const { name, code } = namesOf(failure);
  if (name === "TimeoutError" || code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return "late";
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "noConnection";
  if (code === "ECONNREFUSED") return "refused";
  if (/^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code) || code === "EPROTO") {
    return "tls";
  }
  return /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW)/.test(code) ? "notHttp" : "ended";
}

/** Where several addresses were tried, the first one's failure says it. */
function rootOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

function namesOf(error: unknown): { name: string; code: string } {
  if (!(error instanceof Error)) return { name: "", code: "" };
  return { name: error.name, code: "code" in error ? String(error.code) : "" };
}
