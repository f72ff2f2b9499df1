import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** The proxy's own answer to a GET of a path. */
export type Page = { headers: Readonly<Record<string, string>>; body: string };

export type Route =
  | { kind: "pass" }
  | { kind: "page"; page: Page }
  /** A preflight: a browser asks whether a request may follow. */
  | { kind: "preflight"; methods: string }
  | Refusal;

/** Says what becomes of a request: JSON-RPC at `/` and a GET below `passedFolder` pass, pages are answered. */
export function createRoutes({
  url,
  passedFolder,
  pages,
}: {
  url: string;
  passedFolder: string | undefined;
  pages: ReadonlyMap<string, Page>;
}): (request: { method: string; path: string }) => Route {
  function methodsOf(path: string): string | undefined {
    if (path === "/") return pages.has(path) ? "GET, HEAD, POST, OPTIONS" : "POST, OPTIONS";
    const isPassed = passedFolder !== undefined && path.startsWith(passedFolder);
    return isPassed || pages.has(path) ? "GET, HEAD, OPTIONS" : undefined;
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
    return page === undefined ? { kind: "pass" } : { kind: "page", page };
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
