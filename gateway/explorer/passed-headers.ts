import { parseSetCookie, stringifySetCookie } from "cookie";
import { isOwnCookie } from "../../lib/web/own-cookies.ts";
import { explorerPath } from "../server/page-headers.ts";

type Received = Readonly<Record<string, string | string[] | undefined>>;

/** What a browser gets of the API's headers as they are. What is not here belongs to the API's own connection. */
const passedNames = [
  "Cache-Control",
  "ETag",
  "Last-Modified",
  "Content-Encoding",
  "Content-Language",
  "Content-Disposition",
  "Content-Security-Policy",
  "Referrer-Policy",
  "Permissions-Policy",
  "X-Frame-Options",
  "Cross-Origin-Opener-Policy",
  "Cross-Origin-Embedder-Policy",
  "Cross-Origin-Resource-Policy",
  "Allow",
  "Retry-After",
  "X-Request-Id",
  // nginx in front of the gateway would hold events back.
  "X-Accel-Buffering",
] as const;

const printable = /^[\x20-\x7e]*$/;

/** The headers of an answer of the API that go on to the browser, besides Content-Type and Location. */
export function passedHeaders(received: Received): Record<string, string> {
  const passed: Record<string, string> = { "X-Content-Type-Options": "nosniff" };
  for (const name of passedNames) {
    const value = joined(received[name.toLowerCase()]);
    if (value !== undefined && printable.test(value)) passed[name] = value;
  }
  // Beside the key's own limit, which is the default one here.
  for (const name of ["RateLimit", "RateLimit-Policy"]) {
    const value = joined(received[name.toLowerCase()]);
    if (value !== undefined && printable.test(value)) passed[name] = value.replace(/^"default"/, '"address"');
  }
  // A cache between must give nobody without a key what one with a key got.
  passed["Vary"] = [joined(received["vary"]), "X-API-Key"]
    .filter((value) => value !== undefined && printable.test(value))
    .join(", ");
  const cookie = [received["set-cookie"] ?? []].flat().flatMap(ownCookie).at(-1);
  if (cookie !== undefined) passed["Set-Cookie"] = cookie;
  return passed;
}

/** A cookie of our pages, for the explorer's folder alone; none where it is another one. */
function ownCookie(text: string): string[] {
  if (text.length > 512 || !printable.test(text)) return [];
  const { name, value, maxAge, httpOnly } = parseSetCookie(text);
  if (value === undefined || !isOwnCookie(name, value)) return [];
  const lasts = maxAge !== undefined && Number.isSafeInteger(maxAge) ? { maxAge } : {};
  const path = `${explorerPath}/`;
  return [stringifySetCookie({ name, value, path, sameSite: "lax", httpOnly: httpOnly === true, ...lasts })];
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
