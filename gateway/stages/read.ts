import type { GatewayLimits } from "../config.ts";
import type { Exchange, RequestHead } from "../http-server.ts";
import { type Refusal, refusal } from "../refusal.ts";

/**
 * Checks a request's head and reads its body to the end; nothing is done with a body that was cut short. `"aborted"`:
 * the client is gone, nobody waits for an answer.
 */
export async function read(
  exchange: Exchange,
  limits: GatewayLimits,
): Promise<Uint8Array | Refusal | "aborted"> {
  const refused = checkHead(exchange.head, limits);
  if (refused !== undefined) return refused;
  const body = await exchange.readBody(limits);
  if (body === "too large") return tooLarge(limits);
  if (body === "too slow") {
    return refusal("invalid_request", `The body did not arrive within ${limits.bodyTimeoutMs} ms`, closing);
  }
  return body;
}

/** After these the bytes that are still to come cannot be told from a next request, or are not worth reading. */
const closing = { headers: { Connection: "close" } };

function checkHead(head: RequestHead, limits: GatewayLimits): Refusal | undefined {
  // RFC 9112 sections 3.2 and 6.3: each of these is how a request is smuggled past whoever reads it differently.
  if (head.hostCount !== 1) return malformed("exactly one Host header is required");
  if (head.contentLengthCount > 1) return malformed("Content-Length was sent more than once");
  if (head.transferEncodings !== undefined && head.transferEncodings.toLowerCase() !== "chunked") {
    return malformed("the only Transfer-Encoding taken here is chunked");
  }
  if (head.path !== "/") return refusal("not_found", notFoundMessage(head));
  if (head.method !== "POST") {
    return refusal(
      "method_not_allowed",
      `Send JSON-RPC requests as POST; ${methodName(head)} is not served here`,
      {
        headers: { Allow: "POST" },
      },
    );
  }
  if (head.contentTypeCount > 1) return refusal("invalid_request", "Content-Type was sent more than once");
  if (!isJson(head.contentType)) {
    return refusal("unsupported_media_type", "Send the body with the header Content-Type: application/json");
  }
  if (head.contentEncoding !== undefined && head.contentEncoding.toLowerCase() !== "identity") {
    return refusal("unsupported_media_type", "Send the body as it is: compressed bodies are not taken", {
      // RFC 7694 section 3: names the codings that would have been taken.
      headers: { "Accept-Encoding": "identity" },
    });
  }
  if (Number(head.contentLength ?? 0) > limits.bodyBytesMax) return tooLarge(limits);
  return undefined;
}

function malformed(what: string): Refusal {
  return refusal("invalid_request", `Malformed HTTP request: ${what}`, closing);
}

function tooLarge({ bodyBytesMax }: GatewayLimits): Refusal {
  return refusal("body_too_large", `The body is larger than ${bodyBytesMax} bytes; send smaller batches`, {
    data: { bodyBytesMax },
    ...closing,
  });
}

/** RFC 9110 section 8.3.1: type and subtype without regard to case, any parameters after a semicolon. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

function notFoundMessage(head: RequestHead): string {
  const hint = looksLikeKey(head.path)
    ? "; an API key belongs in the header X-API-Key, never in the URL"
    : "";
  return `There is nothing at this path: JSON-RPC is served at /${hint}`;
}

/** Some providers take a key as the last part of the path. */
function looksLikeKey(path: string): boolean {
  return /tg_|[A-Za-z0-9_-]{24,}/.test(path);
}

/** Only names that HTTP registers are repeated to the client. */
function methodName({ method }: RequestHead): string {
  return ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"].includes(method)
    ? method
    : "this method";
}
