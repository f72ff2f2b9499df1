import { z } from "zod";
import type { Requests } from "./run-wrk.ts";
import type { Server } from "./start-server.ts";

export type Work = {
  name: string;
  server: Server;
  requests: Requests;
  /** Requests per CPU second, as a ratio to the bare handler. */
  goal: number;
};

const block = z.object({ number: z.int(), hash: z.string(), transactions: z.array(z.string()) });
const list = z.object({ data: z.array(z.object({ hash: z.string() })), nextCursor: z.string().nullable() });
const chain = z.object({ data: z.object({ chain: z.object({ blockNumber: z.int(), chainId: z.int() }) }) });
const json = { "Content-Type": "application/json" };
const chainQuery = JSON.stringify({ query: "{ chain { blockNumber chainId } }" });

/** What the bench asks of the API, with checked answers. @throws Error where an answer is wrong. */
export async function prepareWorks({
  kept,
  unkept,
  height,
  fullBlock,
}: {
  /** An API that keeps its answers, and one that cannot. */
  kept: Server;
  unkept: Server;
  height: number;
  /** The number of a block with transactions. */
  fullBlock: number;
}): Promise<Work[]> {
  const blocks = Array.from(
    { length: Math.min(height, 500) },
    (_, index) => `/api/v1/blocks/${height - index}`,
  );
  for (const { url } of [kept, unkept]) {
    const { number } = block.parse(await read(`${url}${blocks[7]}`));
    if (number !== height - 7) throw new Error(`block ${number} was answered for ${height - 7}`);
  }
  const full = block.parse(await read(`${kept.url}/api/v1/blocks/${fullBlock}`));
  const transactions = full.transactions.map((hash) => `/api/v1/transactions/${hash}`);
  const etag = (await fetch(`${kept.url}${blocks[0]}`)).headers.get("etag") ?? "";
  const again = { "If-None-Match": etag };
  const { status } = await fetch(`${kept.url}${blocks[0]}`, { headers: again });
  if (etag === "" || status !== 304) throw new Error(`a copy was answered with ${status}`);
  const answer = await fetch(`${kept.url}/graphql`, { method: "POST", headers: json, body: chainQuery });
  const { blockNumber, chainId } = chain.parse(await answer.json()).data.chain;
  if (blockNumber !== height || chainId !== 8845) throw new Error(`chain ${chainId} at ${blockNumber}`);
  return [
    { name: "block in memory", server: kept, requests: { paths: blocks.slice(0, 1) }, goal: 0.85 },
    { name: "transaction in memory", server: kept, requests: { paths: transactions }, goal: 0.85 },
    { name: "304", server: kept, requests: { paths: blocks.slice(0, 1), headers: again }, goal: 0.85 },
    { name: "block not in memory", server: unkept, requests: { paths: blocks }, goal: 0.25 },
    { name: "list of 20", server: unkept, requests: { paths: await pagesOf(unkept) }, goal: 0.08 },
    {
      name: "GraphQL chain",
      server: kept,
      requests: { method: "POST", paths: ["/graphql"], headers: json, body: chainQuery },
      goal: 0.25,
    },
  ];
}

/** Pages of the list of transactions, each with its own cursor. */
async function pagesOf({ url }: Server): Promise<string[]> {
  const paths = ["/api/v1/transactions?limit=20"];
  for (let page = 0; page < 60; page += 1) {
    const { data, nextCursor } = list.parse(await read(`${url}${paths.at(-1)}`));
    if (data.length !== 20) throw new Error(`a page of ${data.length}`);
    if (nextCursor === null) throw new Error("there are not enough transactions");
    paths.push(`/api/v1/transactions?limit=20&cursor=${nextCursor}`);
  }
  return paths;
}

async function read(url: string): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.json();
}
