import { askNode, readQuantity } from "../network/chain/ask-node.ts";

export type ChoosableNode = { name: string; url: string; webSocketUrl: string };
export type NodeChoice = {
  /** The node to use now. */
  current(): ChoosableNode;
  stop(): Promise<void>;
};

/** A node that is further behind than this is catching up. */
const lagMax = 3;

/**
 * Chooses one of several nodes for callers that take one address. It keeps its choice while that node answers and keeps
 * up, else it takes the node with the most blocks. It looks at all nodes every `lookEveryMs`; while none answers it
 * keeps the last choice.
 */
export function createNodeChoice({
  nodes,
  say,
  lookEveryMs = 500,
  timeoutMs = 1000,
}: {
  nodes: readonly [ChoosableNode, ...ChoosableNode[]];
  /** Called when it chooses another node. */
  say: (text: string) => void;
  lookEveryMs?: number;
  timeoutMs?: number;
}): NodeChoice {
  let current: ChoosableNode = nodes[0];
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let looking = look();

  async function look(): Promise<void> {
    const heights = await Promise.all(
      nodes.map(async ({ url }) =>
        readQuantity((await askNode(url, [{ method: "eth_blockNumber" }], { timeoutMs }))?.[0]),
      ),
    );
    if (stopped) return;
    const best = Math.max(-1, ...heights.map((height) => height ?? -1));
    const own = heights[nodes.indexOf(current)];
    const isGood = own !== undefined && own >= best - lagMax;
    const next = nodes[heights.indexOf(best)];
    if (!isGood && best >= 0 && next !== undefined) {
      say(`${current.name} does not keep up or does not answer: ${next.name} is asked in its place`);
      current = next;
    }
    timer = setTimeout(() => {
      looking = look();
    }, lookEveryMs);
    timer.unref();
  }

  return {
    current: () => current,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
