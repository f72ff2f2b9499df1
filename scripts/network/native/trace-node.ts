import { setTimeout as sleep } from "node:timers/promises";
import { askNode } from "../chain/ask-node.ts";
import type { NetworkNode, Nodes } from "../nodes.ts";
import type { NodeProcess } from "./node-process.ts";

const answersWithinMs = 120_000;
const pollMs = 250;

/** The node that runs traces, as a process beside the validators. It is no part of the quorum. */
export function besideValidators({
  node: { name, rpcUrl },
  process,
  obstacles,
  start,
  stopValidators,
}: {
  node: NetworkNode;
  process: NodeProcess;
  stopValidators: () => Promise<unknown>;
} & Pick<Nodes, "obstacles" | "start">): NonNullable<Nodes["beside"]> {
  async function answers(signal: AbortSignal): Promise<{ failed: string } | undefined> {
    const giveUpAt = performance.now() + answersWithinMs;
    while (performance.now() < giveUpAt && !signal.aborted) {
      const height = await askNode(rpcUrl, [{ method: "eth_blockNumber" }]);
      if (height?.[0] !== undefined) return undefined;
      if ((await process.pid()) === undefined) return { failed: `${name} has ended: see ${process.logFile}` };
      await sleep(pollMs, undefined, { signal }).catch(() => {});
    }
    return {
      failed: signal.aborted ? "it was interrupted" : `${name} does not answer: see ${process.logFile}`,
    };
  }

  return {
    async up(signal) {
      if ((await process.pid()) !== undefined) return undefined;
      const problems = await obstacles([name]);
      if (problems.length > 0) return { failed: problems.join("\n") };
      return (await start([name])) ?? answers(signal);
    },
    async down() {
      await process.stop();
      await stopValidators();
    },
  };
}
