import { setTimeout as sleep } from "node:timers/promises";
import type { Nodes } from "../nodes.ts";
import { askNode, readQuantity } from "./ask-node.ts";

/** A node on its way up. */
export type NodeProgress = {
  name: string;
  state: "starting" | "answers" | "ended" | "stopped";
  height?: number;
  peers?: number;
};

/** A goal: returns the height at which it is reached. */
export type Goal = { text: string; reached: (progress: readonly NodeProgress[]) => number | undefined };

export type Waited = { height: number; tookMs: number } | { failed: string; ended?: string };

const pollMs = 250;
/** A block may come between two answers. */
const syncLagMax = 1;

/** The chain's height moves. */
export function newBlock(): Goal {
  const firstHeights = new Map<string, number>();
  return {
    text: "a new block",
    reached(progress) {
      for (const { name, height } of progress) {
        if (height !== undefined && !firstHeights.has(name)) firstHeights.set(name, height);
      }
      // The height that a late node brings is no new block.
      const before = Math.max(-1, ...firstHeights.values());
      const height = Math.max(-1, ...progress.map((node) => node.height ?? -1));
      return height > before ? height : undefined;
    },
  };
}

/** One node answers. */
export function answerOf(name: string): Goal {
  return {
    text: `an answer of ${name}`,
    reached: (progress) => progress.find((node) => node.name === name)?.height,
  };
}

/** One node has peers and the blocks of all others. */
export function syncOf(name: string): Goal {
  return {
    text: `${name} with the blocks of the others`,
    reached(progress) {
      const own = progress.find((node) => node.name === name);
      const height = Math.max(0, ...progress.map((node) => node.height ?? 0));
      const isThere = own?.height !== undefined && (own.peers ?? 0) > 0 && height - own.height <= syncLagMax;
      return isThere && height > 0 ? own.height : undefined;
    },
  };
}

/**
 * Waits for a goal. A node of `started` that ends by itself ends the waiting.
 *
 * @returns the height at the goal, or why it was not reached: `ended` names the node that did.
 */
export async function waitForNodes({
  nodes,
  started,
  goal,
  signal,
  timeoutMs,
  onProgress,
}: {
  nodes: Nodes;
  /** Nodes that have just started and must not end. */
  started: readonly string[];
  goal: Goal;
  signal: AbortSignal;
  timeoutMs: number;
  onProgress: (progress: readonly NodeProgress[]) => void;
}): Promise<Waited> {
  const begunAt = performance.now();
  while (!signal.aborted) {
    const progress = await Promise.all(nodes.list.map((node) => lookAt({ node, nodes, started })));
    onProgress(progress);
    const ended = progress.find(({ state }) => state === "ended");
    if (ended !== undefined) return { failed: `${ended.name} has ended`, ended: ended.name };
    const height = goal.reached(progress);
    const tookMs = performance.now() - begunAt;
    if (height !== undefined) return { height, tookMs };
    if (tookMs > timeoutMs) {
      return { failed: `within ${Math.round(timeoutMs / 1000)} s there was not ${goal.text}` };
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
  return { failed: "it was interrupted" };
}

async function lookAt({
  node: { name, rpcUrl },
  nodes,
  started,
}: {
  node: Nodes["list"][number];
  nodes: Nodes;
  started: readonly string[];
}): Promise<NodeProgress> {
  if (!(await nodes.isRunning(name))) return { name, state: started.includes(name) ? "ended" : "stopped" };
  const results = await askNode(rpcUrl, [{ method: "eth_blockNumber" }, { method: "net_peerCount" }]);
  const [height, peers] = [readQuantity(results?.[0]), readQuantity(results?.[1])];
  if (height === undefined) return { name, state: "starting" };
  return { name, state: "answers", height, ...(peers === undefined ? {} : { peers }) };
}
