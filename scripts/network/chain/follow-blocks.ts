import { setTimeout as sleep } from "node:timers/promises";
import { type BlockHeader, readBlockHeader } from "../../../lib/ibft/block-header.ts";
import type { NetworkNode } from "../nodes.ts";
import { askNode, readQuantity } from "./ask-node.ts";

/** Where following ended before `look` was content. */
export type FollowEnd = { ended: "interrupted" | "stalled" | "too many blocks"; number: number };

const pollMs = 250;
/** A node that is silent must not hold up the others for long. */
const timeoutMs = 1000;
const blocksAtOnceMax = 50;

/**
 * Shows each block from `from` on to `look`, in order and once, until it returns something. The blocks are those of the node that is
 * highest at the moment: they are final, so it does not matter whose they are.
 */
export async function followBlocks<Found>({
  nodes,
  from,
  blocksMax,
  stalledAfterMs,
  signal,
  look,
}: {
  nodes: readonly Pick<NetworkNode, "rpcUrl">[];
  from: number;
  blocksMax: number;
  /** Without a new block for so long it is given up. */
  stalledAfterMs: number;
  signal: AbortSignal;
  look: (header: BlockHeader) => Found | undefined | Promise<Found | undefined>;
}): Promise<{ found: Found } | FollowEnd> {
  let next = from;
  let movedAt = performance.now();
  for (;;) {
    for (const header of await headersFrom(nodes, next)) {
      if (header.number !== next) break;
      movedAt = performance.now();
      const found = await look(header);
      if (found !== undefined) return { found };
      next += 1;
      if (next - from >= blocksMax) return { ended: "too many blocks", number: next - 1 };
    }
    if (signal.aborted) return { ended: "interrupted", number: next - 1 };
    if (performance.now() - movedAt > stalledAfterMs) return { ended: "stalled", number: next - 1 };
    await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

/** The newest block that any of the nodes has; undefined where none answers. */
export async function readHead(
  nodes: readonly Pick<NetworkNode, "rpcUrl">[],
): Promise<BlockHeader | undefined> {
  const { url, height } = await highest(nodes);
  if (url === undefined) return undefined;
  return (await readHeaders(url, height, height))[0];
}

async function headersFrom(
  nodes: readonly Pick<NetworkNode, "rpcUrl">[],
  from: number,
): Promise<BlockHeader[]> {
  const { url, height } = await highest(nodes);
  if (url === undefined || height < from) return [];
  return readHeaders(url, from, Math.min(height, from + blocksAtOnceMax - 1));
}

async function highest(
  nodes: readonly Pick<NetworkNode, "rpcUrl">[],
): Promise<{ url: string | undefined; height: number }> {
  const heights = await Promise.all(
    nodes.map(async ({ rpcUrl }) => {
      const answers = await askNode(rpcUrl, [{ method: "eth_blockNumber" }], { timeoutMs });
      return { url: rpcUrl, height: readQuantity(answers?.[0]) ?? -1 };
    }),
  );
  const [first] = heights.filter(({ height }) => height >= 0).sort((one, other) => other.height - one.height);
  return first ?? { url: undefined, height: -1 };
}

/** The headers of these blocks as one node has them, lowest first; those that cannot be read are left out. */
export async function readHeaders(url: string, first: number, last: number): Promise<BlockHeader[]> {
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  const blocks = await askNode(
    url,
    numbers.map((number) => ({
      method: "eth_getBlockByNumber",
      params: [`0x${number.toString(16)}`, false],
    })),
  );
  return (blocks ?? []).flatMap((block) => {
    const read = readBlockHeader(block);
    return "header" in read ? [read.header] : [];
  });
}
