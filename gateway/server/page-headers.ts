import type { HttpRequest } from "./uws.ts";

/** Where the gateway serves the explorer, which the API serves at `/`. */
export const explorerPath = "/explorer";
const explorerFolder = `${explorerPath}/`;

/** What a page is made by, of a browser's headers. They are read on the explorer's paths alone. */
export type PageHeaders = {
  accept: string | undefined;
  acceptEncoding: string | undefined;
  acceptLanguage: string | undefined;
  cookie: string | undefined;
  ifNoneMatch: string | undefined;
  lastEventId: string | undefined;
  /** What a proxy in front says; it counts from a trusted one alone. */
  forwardedProto: string | undefined;
};

/** Whether a request is the explorer's. */
export function isExplorerPath(path: string): boolean {
  return path === explorerPath || path.startsWith(explorerFolder);
}

export function readPageHeaders(req: HttpRequest): PageHeaders {
  const read = (name: string) => {
    const value = req.getHeader(name);
    return value === "" ? undefined : value;
  };
  return {
    accept: read("accept"),
    acceptEncoding: read("accept-encoding"),
    acceptLanguage: read("accept-language"),
    cookie: read("cookie"),
    ifNoneMatch: read("if-none-match"),
    lastEventId: read("last-event-id"),
    forwardedProto: read("x-forwarded-proto"),
  };
}
