import { z } from "zod";
import type { BlockHeader } from "../../../lib/ibft/block-header.ts";
import type { NetworkNode, Nodes } from "../nodes.ts";
import { askNode, readQuantity } from "./ask-node.ts";
import { readHeaders } from "./follow-blocks.ts";

/** One node's view of the chain. */
export type NodeView = NetworkNode & {
  state: "stopped" | "silent" | "other network" | "up";
  /** The following fields exist for a node that is up. */
  height?: number;
  peers?: number;
  /** For a node that is down: what else is known of it. */
  trouble?: string;
  /** Its own headers of the last blocks, lowest first: each validator keeps other seals. */
  headers: readonly BlockHeader[];
};

const blockSchema = z.object({ hash: z.string() });

/** A process that has taken the port of a stopped node answers at once; the address of a stopped container never does. */
const strangerTimeoutMs = 500;

/** Asks every node for its height, its peers and its headers of the chain's last `windowBlocks` blocks. */
export async function observe({
  nodes,
  genesisHash,
  windowBlocks,
}: {
  nodes: Pick<Nodes, "list" | "isRunning" | "troubleOf">;
  genesisHash: string;
  windowBlocks: number;
}): Promise<NodeView[]> {
  const views = await Promise.all(nodes.list.map((node) => lookAt({ node, nodes, genesisHash })));
  const head = Math.max(0, ...views.map(({ height = 0 }) => height));
  const first = Math.max(1, head - windowBlocks + 1);
  return Promise.all(
    views.map(async (view) => ({
      ...view,
      headers: await readHeaders(view.rpcUrl, first, view.height ?? 0),
    })),
  );
}

async function lookAt({
  node,
  nodes,
  genesisHash,
}: {
  node: NetworkNode;
  nodes: Pick<Nodes, "list" | "isRunning" | "troubleOf">;
  genesisHash: string;
}): Promise<Omit<NodeView, "headers">> {
  const isRunning = await nodes.isRunning(node.name);
  const results = await askNode(
    node.rpcUrl,
    [
      { method: "eth_blockNumber" },
      { method: "net_peerCount" },
      { method: "eth_getBlockByNumber", params: ["0x0", false] },
    ],
    isRunning ? {} : { timeoutMs: strangerTimeoutMs },
  );
  const [height, peers] = [readQuantity(results?.[0]), readQuantity(results?.[1])];
  if (height === undefined) {
    const trouble = await nodes.troubleOf?.(node.name);
    return {
      ...node,
      state: isRunning ? "silent" : "stopped",
      ...(trouble === undefined ? {} : { trouble }),
    };
  }
  const genesis = blockSchema.safeParse(results?.[2]);
  // Another program may have the port of a node that is down.
  if (genesis.data?.hash !== genesisHash) return { ...node, state: "other network" };
  return { ...node, state: "up", height, ...(peers === undefined ? {} : { peers }) };
}
