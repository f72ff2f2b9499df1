import type { Server } from "../api/start-server.ts";
import type { Work } from "../api/works.ts";

const browser = { Accept: "text/html", "Accept-Language": "en" };
/** A page is made once a head for everybody who asks for the same URL: each of these is another one. */
const differentUrls = 500;

/** The explorer's pages; what each is answered has been looked at. @throws Error where an answer is wrong. */
export async function preparePages({
  kept,
  unkept,
  height,
  fullBlock,
}: {
  /** An API that keeps its pages, and one that cannot. */
  kept: Server;
  unkept: Server;
  height: number;
  /** The number of a block with twenty transactions. */
  fullBlock: number;
}): Promise<Work[]> {
  const newest = `<a href="./block/${height}">`;
  const home = await read(kept, "/", { rows: 20, text: newest });
  await read(unkept, "/?made=1", { rows: 20, text: newest });
  await read(unkept, "/txs?limit=50&made=1", { rows: 50, text: "<table>" });
  await read(unkept, `/block/${fullBlock}?made=1`, { rows: 20, text: `<h1>Block ${fullBlock}</h1>` });
  const again = { ...browser, "If-None-Match": home.etag };
  const { status } = await fetch(kept.url, { headers: again });
  if (status !== 304) throw new Error(`a copy of the home page was answered with ${status}`);
  const made = (path: string) =>
    Array.from(
      { length: differentUrls },
      (_, index) => `${path}${path.includes("?") ? "&" : "?"}made=${index}`,
    );
  return [
    { name: "home from memory", server: kept, requests: { paths: ["/"], headers: browser }, goal: 0.7 },
    { name: "home, 304", server: kept, requests: { paths: ["/"], headers: again }, goal: 0.7 },
    { name: "home rendered", server: unkept, requests: { paths: made("/"), headers: browser }, goal: 0.08 },
    {
      name: "block of 20 rendered",
      server: unkept,
      requests: { paths: made(`/block/${fullBlock}`), headers: browser },
      goal: 0.08,
    },
    {
      name: "list of 50 rendered",
      server: unkept,
      requests: { paths: made("/txs?limit=50"), headers: browser },
      goal: 0.04,
    },
  ];
}

async function read(
  { url }: Server,
  path: string,
  { rows, text }: { rows: number; text: string },
): Promise<{ etag: string }> {
  const response = await fetch(`${url}${path}`, { headers: browser });
  const body = await response.text();
  // The headings' row does not count.
  const found = body.match(/<tr><th scope="row">/g)?.length;
  if (response.status !== 200 || found !== rows || !body.includes(text)) {
    throw new Error(`${path}: ${response.status}, ${found} rows instead of ${rows}, or without ${text}`);
  }
  return { etag: response.headers.get("etag") ?? "" };
}
