import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** The proxy's own answer to a GET of a path. */
export type Page = { headers: Readonly<Record<string, string>>; body: string };

/** The page for one request: a page has several languages. */
export type PageOf = (request: IncomingMessage) => Page;

export type Route =
  /** `isPage`: of the folder that is passed on, whose pages may remember things in cookies. */
  | { kind: "pass"; isPage: boolean }
  | { kind: "page"; page: PageOf }
  /** A preflight: a browser asks whether a request may follow. */
  | { kind: "preflight"; methods: string }
  | Refusal;

/**
 * Says what becomes of a request: JSON-RPC at `/` passes, and so does a GET of `passedFolder`, which takes queries at
 * `graphql`; pages are answered.
 */
export function createRoutes({
  url,
  passedFolder,
  pages,
}: {
  url: string;
  passedFolder: string | undefined;
  pages: ReadonlyMap<string, PageOf>;
}): (request: { method: string; path: string }) => Route {
  function methodsOf(path: string): string | undefined {
    if (path === "/") return pages.has(path) ? "GET, HEAD, POST, OPTIONS" : "POST, OPTIONS";
    if (passedFolder !== undefined && path === `${passedFolder}graphql`) return "GET, HEAD, POST, OPTIONS";
    return isPassed(path) || pages.has(path) ? "GET, HEAD, OPTIONS" : undefined;
  }

  /** With or without the slash at its end: the target knows where that leads to. */
  function isPassed(path: string): boolean {
    return passedFolder !== undefined && `${path}/`.startsWith(passedFolder);
  }

  return ({ method, path }) => {
    const methods = methodsOf(path);
    if (methods === undefined) {
      return refusal("not_found", `Nothing is served at this path: JSON-RPC is at ${url}`);
    }
    if (!methods.split(", ").includes(method)) {
      return refusal("method_not_allowed", `This path takes ${methods}`, { headers: { Allow: methods } });
    }
    if (method === "OPTIONS") return { kind: "preflight", methods };
    const page = method === "POST" ? undefined : pages.get(path);
    return page === undefined ? { kind: "pass", isPage: isPassed(path) } : { kind: "page", page };
  };
}

/**
 * The path as the target will read it: without dot segments, so that no path leaves a folder. Empty for a request target
 * in absolute form (RFC 9112 section 3.2.2), which is for forward proxies.
 */
export function pathOf({ url = "" }: IncomingMessage): string {
  const whole = `http://localhost${url}`;
  return url.startsWith("/") && URL.canParse(whole) ? new URL(whole).pathname : "";
}
