import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";

/** A key has 58 characters. */
const keyCharsMax = 200;

const bearerPattern = /^Bearer +(\S.*)$/i;

/** 401 names the scheme that it takes (RFC 9110 section 11.6.1). */
export const challenge = { headers: { "WWW-Authenticate": 'Bearer realm="svc-dev"' } };

/** The one key that a request was sent with, in any of the three headers; the same in several is one. */
export function presentedKey(
  request: Pick<IncomingMessage, "headersDistinct">,
): { secret: string } | Refusal {
  const { headersDistinct } = request;
  const bearer = (headersDistinct["authorization"] ?? []).flatMap((value) => {
    const [, token] = bearerPattern.exec(value) ?? [];
    return token === undefined ? [] : [token];
  });
  const sent = [
    ...(headersDistinct["x-svc-dev-key"] ?? []),
    ...bearer,
    ...(headersDistinct["x-api-key"] ?? []),
  ];
  const [secret, ...others] = new Set(sent.map((value) => value.trim()).filter((value) => value !== ""));
  if (secret === undefined) return missing;
  if (others.length > 0) return several;
  return secret.length > keyCharsMax ? unknownKey : { secret };
}

const missing = refusal(
  "api_key_missing",
  "Send your API key in the header X-Svc-Dev-Key, or as Authorization: Bearer, or in X-Api-Key",
  challenge,
);
const several = refusal("invalid_params", "Two different API keys were sent: send one");
export const unknownKey = refusal("api_key_invalid", "There is no such API key", challenge);
