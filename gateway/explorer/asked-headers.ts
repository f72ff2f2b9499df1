import { unknownAddress } from "../../lib/http-service/client-address.ts";
import { ownCookies } from "../../lib/web/own-cookies.ts";
import { explorerPath, type PageHeaders } from "../server/page-headers.ts";

/**
 * The headers that the API gets: what a page is made by, and whom it is made for. Never the API key, nor what a browser
 * has of other servers of this host.
 */
export function askedHeaders({
  page,
  contentType,
  clientAddress,
  scheme,
}: {
  page: PageHeaders;
  /** Of a body. */
  contentType: string | undefined;
  clientAddress: string;
  scheme: "http" | "https";
}): Record<string, string> {
  const headers = {
    Accept: page.accept,
    // The one that the API has, and only where the browser names it: whoever takes anything may know none.
    "Accept-Encoding": /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(page.acceptEncoding ?? "")
      ? "gzip"
      : undefined,
    "Accept-Language": page.acceptLanguage,
    Cookie: ownCookies(page.cookie),
    "If-None-Match": page.ifNoneMatch,
    "Last-Event-ID": page.lastEventId,
    "Content-Type": contentType,
    "X-Forwarded-For": clientAddress === unknownAddress ? undefined : clientAddress,
    "X-Forwarded-Proto": scheme,
    "X-Forwarded-Prefix": explorerPath,
  };
  const asked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    // A header that is no printable ASCII belongs to no browser.
    if (value !== undefined && /^[\x20-\x7e]*$/.test(value)) asked[name] = value;
  }
  return asked;
}
