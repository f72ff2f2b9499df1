import { type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { BodyLimits, BodyRead, Exchange, RequestHead } from "../../server/exchange.ts";

/**
 * Reads the body of a request with a good head and a known key to its end. A body that was cut short is dropped. `"aborted"`: the client is gone, nobody waits for an answer. The bytes are good until `done` returns.
 */
export function read(
  exchange: Exchange,
  { limits, keyId }: { limits: BodyLimits; keyId: string },
  done: (body: Uint8Array | Refusal | "aborted") => void,
): void {
  exchange.readBody(limits, keyId, (body) => {
    done(typeof body === "string" && body !== "aborted" ? notRead(body, limits) : body);
  });
}

function notRead(why: Exclude<BodyRead, Uint8Array | "aborted">, limits: BodyLimits): Refusal {
  switch (why) {
    case "too large":
      return tooLarge(limits);
    case "too slow":
      return tooSlow(limits);
    case "stalled":
      return stalled(limits);
    case "too many of the key":
      return tooManyBodies("this API key");
    case "too many of the address":
      return tooManyBodies("your address");
    case "too many":
      return noRoom;
  }
}

/** Whether the client wants no cached answer (RFC 9111 section 5.2.1.4). */
export function isFresh({ cacheControl }: RequestHead): boolean {
  return cacheControl !== undefined && /(^|,)\s*no-cache\s*(,|$)/i.test(cacheControl);
}

function tooSlow({ bodyTimeoutMs }: BodyLimits): Refusal {
  return refusal("invalid_request", `The body did not arrive within ${bodyTimeoutMs} ms`, closing);
}

function stalled({ chunkedStallMs }: BodyLimits): Refusal {
  return refusal(
    "invalid_request",
    `The body stood still for ${chunkedStallMs} ms before its last chunk (chunk extensions are not read); ` +
      "send it with Content-Length",
    closing,
  );
}

function tooManyBodies(of: string): Refusal {
  return refusal(
    "rate_limited",
    `Too much of ${of} is being sent at once: send fewer bodies at a time, or faster`,
    {
      data: { retryAfterMs: 1000 },
      headers: { "Retry-After": "1", Connection: "close" },
    },
  );
}

const noRoom = refusal("service_unavailable", "The gateway is reading too many bodies; try again shortly", {
  headers: { "Retry-After": "1", Connection: "close" },
});

/** What is wrong with a request before its body is looked at; its path has to be one that takes JSON. */
export function checkRequest(head: RequestHead, limits: BodyLimits): Refusal | undefined {
  return checkHttp(head) ?? checkHead(head, limits);
}

/** RFC 9112 sections 3.2 and 6.3: each of these smuggles a request past a proxy that reads it differently. */
export function checkHttp(head: RequestHead): Refusal | undefined {
  if (head.hostCount !== 1) return malformed("exactly one Host header is required");
  if (head.contentLengthCount > 1) return malformed("Content-Length was sent more than once");
  if (head.contentLength !== undefined && !/^\d+$/.test(head.contentLength)) {
    return malformed("Content-Length is not a number");
  }
  if (head.transferEncodings !== undefined && head.transferEncodings.toLowerCase() !== "chunked") {
    return malformed("the only Transfer-Encoding accepted is chunked");
  }
  return undefined;
}

export function notFound({ path }: RequestHead): Refusal {
  // Some providers take a key as the last part of the path.
  const looksLikeKey = /tg_|[A-Za-z0-9_-]{24,}/.test(path);
  const hint = looksLikeKey ? "; an API key belongs in the header X-API-Key, never in the URL" : "";
  return refusal("not_found", `Nothing is served at this path: JSON-RPC is at /${hint}`);
}

/** After these the rest of the body looks like a next request. */
const closing = { headers: { Connection: "close" } };

function checkHead(head: RequestHead, limits: BodyLimits): Refusal | undefined {
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
    return refusal(
      "unsupported_media_type",
      "Send the body uncompressed: compressed bodies are not accepted",
      {
        // RFC 7694 section 3: names the codings that would have been taken.
        headers: { "Accept-Encoding": "identity" },
      },
    );
  }
  if (head.transferEncodings !== undefined && limits.chunkedBodies === "refuse") {
    return refusal("invalid_request", "Send the body with Content-Length: chunked bodies are not accepted");
  }
  if (Number(head.contentLength ?? 0) > limits.bodyBytesMax) return tooLarge(limits);
  return undefined;
}

/** Frames follow an upgrade. A body's framing would be a second reading of the same bytes. */
export function checkNoBody({ contentLength, transferEncodings }: RequestHead): Refusal | undefined {
  if (transferEncodings === undefined && Number(contentLength ?? 0) === 0) return undefined;
  return malformed("an upgrade to WebSocket has no body");
}

function malformed(what: string): Refusal {
  return refusal("invalid_request", `Malformed HTTP request: ${what}`, closing);
}

/** The rest is read and dropped, so that a client that sends everything before it reads gets the answer. */
function tooLarge({ bodyBytesMax, isClaim }: BodyLimits): Refusal {
  const advice = isClaim === true ? "a claim is an address and little else" : "send smaller batches";
  return refusal("body_too_large", `The body is larger than ${bodyBytesMax} bytes; ${advice}`, {
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
