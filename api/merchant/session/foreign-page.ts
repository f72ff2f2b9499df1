import type { FastifyRequest } from "fastify";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";

/** Methods that change nothing (RFC 9110 section 9.2.1), so that a page may make a browser send them. */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

export function isUnsafe({ method }: Pick<FastifyRequest, "method">): boolean {
  return !safeMethods.has(method);
}

/**
 * What a browser says of the page that sends a request: ours, another, or nothing at all, which a program does and no browser
 * does for an unsafe method. `Origin` (Fetch standard) and `Sec-Fetch-Site` can be written by no page. Either is enough:
 * behind another name of this server (localhost for 127.0.0.1) only the second says that a page is ours.
 */
export function pageOf(
  { headers }: Pick<FastifyRequest, "headers">,
  origin: string,
): "ours" | "foreign" | "none" {
  const site = headers["sec-fetch-site"];
  if (headers.origin === origin || site === "same-origin") return "ours";
  return headers.origin === undefined && site === undefined ? "none" : "foreign";
}

/** For a request that a browser proves with a cookie: it would send it for any page (CSRF). */
export function refuseForeignPage(request: FastifyRequest, origin: string): Refusal | undefined {
  if (!isUnsafe(request) || pageOf(request, origin) === "ours") return undefined;
  return foreignPage(origin);
}

/** For signing in: a page of others must not sign its visitors in as somebody else. Programs need no page. */
export function refuseForeignSignIn(request: FastifyRequest, origin: string): Refusal | undefined {
  return pageOf(request, origin) === "foreign" ? foreignPage(origin) : undefined;
}

function foreignPage(origin: string): Refusal {
  return refusal(
    "forbidden",
    `This was sent by no page of ${origin}. A program sends the session's token as Authorization: Bearer, and no cookie`,
  );
}
