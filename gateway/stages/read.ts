import type { GatewayLimits } from "../config.ts";
import type { Exchange, RequestHead } from "../http/exchange.ts";
import { type Refusal, refusal } from "../refusal.ts";

/**
 * Checks a request's head and reads its body to the end; nothing is done with a body that was cut short. `"aborted"`:
 * the client is gone, nobody waits for an answer. The bytes are good until `done` returns.
 */
export function read(
  exchange: Exchange,
  limits: Pick<GatewayLimits, "bodyBytesMax" | "bodyTimeoutMs">,
  done: (body: Uint8Array | Refusal | "aborted") => void,
): void {
  const refused = checkHttp(exchange.head) ?? checkHead(exchange.head, limits);
  if (refused !== undefined) {
    done(refused);
    return;
  }
  exchange.readBody(limits, (body) => {
    if (body === "too large") done(tooLarge(limits));
    else if (body === "too slow") done(tooSlow(limits));
    else done(body);
  });
}

/** Whether the client wants no remembered answer (RFC 9111 section 5.2.1.4). */
export function isFresh({ cacheControl }: RequestHead): boolean {
  return cacheControl !== undefined && /(^|,)\s*no-cache\s*(,|$)/i.test(cacheControl);
}

function tooSlow({ bodyTimeoutMs }: Pick<GatewayLimits, "bodyTimeoutMs">): Refusal {
  return refusal("invalid_request", `The body did not arrive within ${bodyTimeoutMs} ms`, closing);
}

/** RFC 9112 sections 3.2 and 6.3: each of these is how a request is smuggled past whoever reads it differently. */
export function checkHttp(head: RequestHead): Refusal | undefined {
  if (head.hostCount !== 1) return malformed("exactly one Host header is required");
  if (head.contentLengthCount > 1) return malformed("Content-Length was sent more than once");
  if (head.contentLength !== undefined && !/^\d+$/.test(head.contentLength)) {
    return malformed("Content-Length is not a number");
  }
  if (head.transferEncodings !== undefined && head.transferEncodings.toLowerCase() !== "chunked") {
    return malformed("the only Transfer-Encoding taken here is chunked");
  }
  return undefined;
}

export function notFound({ path }: RequestHead): Refusal {
  // Some providers take a key as the last part of the path.
  const looksLikeKey = /tg_|[A-Za-z0-9_-]{24,}/.test(path);
  const hint = looksLikeKey ? "; an API key belongs in the header X-API-Key, never in the URL" : "";
  return refusal("not_found", `There is nothing at this path: JSON-RPC is served at /${hint}`);
}

/** After these the bytes that are still to come cannot be told from a next request. */
const closing = { headers: { Connection: "close" } };

function checkHead(head: RequestHead, limits: Pick<GatewayLimits, "bodyBytesMax">): Refusal | undefined {
  if (head.method !== "POST") {
    return refusal(
      "method_not_allowed",
      `Send this request as POST; ${methodName(head)} is not served here`,
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

/** What still comes is taken in and dropped: a client that sends everything before it reads can read the answer. */
function tooLarge({ bodyBytesMax }: Pick<GatewayLimits, "bodyBytesMax">): Refusal {
  return refusal("body_too_large", `The body is larger than ${bodyBytesMax} bytes; send smaller batches`, {
    data: { bodyBytesMax },
  });
}

/** RFC 9110 section 8.3.1: type and subtype without regard to case, any parameters after a semicolon. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

/** Only names that HTTP registers are repeated to the client. */
function methodName({ method }: RequestHead): string {
  return ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"].includes(method)
    ? method
    : "this method";
}
