import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** What the proxy answers a GET of a path with, by itself. */
export type Page = { headers: Readonly<Record<string, string>>; body: string };

export type Route =
  | { kind: "pass" }
  | { kind: "page"; page: Page }
  /** A browser's question whether a request may follow. */
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
 * The path as the target will read it: without dot segments, so that nothing climbs out of a folder. Empty for a target
 * in absolute form (RFC 9112 section 3.2.2), which is for proxies of another kind.
 */
export function pathOf({ url = "" }: IncomingMessage): string {
  const whole = `http://localhost${url}`;
  return url.startsWith("/") && URL.canParse(whole) ? new URL(whole).pathname : "";
}
