import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { RequestHead } from "../server/exchange.ts";
import { explorerPath } from "../server/page-headers.ts";

const graphqlPath = "/graphql";
/** What an HTTP request line may hold; a browser encodes all else. */
const targetText = /^[\x21-\x7e]*$/;

/**
 * What the API is asked for: its path, from a slash on, with the query. A path that somebody else would read as another one
 * (dot segments, backslashes) is refused, so that nothing leaves the folder that the API is served in.
 */
export function readTarget({ method, path, query }: RequestHead): { target: string } | Refusal {
  const inside = path.slice(explorerPath.length);
  const methods = inside === graphqlPath ? "GET, HEAD, POST" : "GET, HEAD";
  if (!methods.split(", ").includes(method)) {
    return refusal("method_not_allowed", `This path takes ${methods}`, { headers: { Allow: methods } });
  }
  if (inside !== "" && (!targetText.test(inside + query) || !isPlain(inside))) return unreadable;
  return { target: query === "" ? inside : `${inside}?${query}` };
}

function isPlain(path: string): boolean {
  const whole = `http://explorer.invalid${path}`;
  return URL.canParse(whole) && new URL(whole).pathname === path;
}

/** Where the API sends a browser, as the browser has to be told; undefined for a place outside of the explorer. */
export function placeOfRedirect(
  location: string,
  { base, target }: { base: URL; target: string },
): string | undefined {
  const here = new URL(base.href);
  const [path = "", query = ""] = target.split("?", 2);
  here.pathname = folderOf(base) + path;
  here.search = query;
  if (!URL.canParse(location, here.href)) return undefined;
  const there = new URL(location, here);
  const folder = `${folderOf(base)}/`;
  if (there.origin !== base.origin || !there.pathname.startsWith(folder)) return undefined;
  return `${explorerPath}/${there.pathname.slice(folder.length)}${there.search}${there.hash}`;
}

/** The folder that the API is served in, without a slash at its end: empty for a whole host. */
export function folderOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}

const unreadable = refusal(
  "invalid_request",
  "The path cannot be read: send it without dot segments, and what is not ASCII percent-encoded",
);
