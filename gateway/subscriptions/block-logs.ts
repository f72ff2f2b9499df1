import { setTimeout as sleep } from "node:timers/promises";
import { type Log, readBlockLogs } from "../logs/read-logs.ts";
import type { NewHead } from "../upstream/head/publish-heads.ts";
import type { AskChain } from "./ask-chain.ts";

export type BlockLogs = {
  /** The logs of this block are wanted. Blocks are delivered in the order in which they were added. */
  add(head: NewHead): void;
  /** Drops all blocks that wait. */
  clear(): void;
};

const retryMinMs = 50;
const retryMaxMs = 1000;

/**
 * Gets the logs of one block after the other, once for all subscribers, and tries until they are there. If more than
 * `blocksBehindMax` blocks wait, all are dropped and `onBehind` is called.
 */
export function createBlockLogs({
  askChain,
  blocksBehindMax,
  deliver,
  onBehind,
}: {
  askChain: AskChain;
  blocksBehindMax: number;
  /** Has to drop the rest once `isOver`. */
  deliver: (head: NewHead, logs: readonly Log[], isOver: () => boolean) => Promise<void>;
  onBehind: () => void;
}): BlockLogs {
  let waiting: NewHead[] = [];
  let asking = false;

  async function work(): Promise<void> {
    asking = true;
    let retryMs = retryMinMs;
    for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
      const logs = await ask(head);
      // It was dropped meanwhile.
      if (waiting[0] !== head) continue;
      if (logs === undefined) {
        await sleep(retryMs, undefined, { ref: false });
        retryMs = Math.min(2 * retryMs, retryMaxMs);
        continue;
      }
      retryMs = retryMinMs;
      const isOver = () => waiting[0] !== head;
      await deliver(head, logs, isOver);
      if (!isOver()) waiting.shift();
    }
    asking = false;
  }

  async function ask({ hash, block }: NewHead): Promise<Log[] | undefined> {
    const answer = await askChain("eth_getLogs", [{ blockHash: hash }]);
    return answer === undefined
      ? undefined
      : readBlockLogs(answer.result, { hash, logsBloom: block["logsBloom"] });
  }

  return {
    add(head) {
      if (waiting.length >= blocksBehindMax) {
        waiting = [];
        onBehind();
        return;
      }
      waiting.push(head);
      if (!asking) void work();
    },
    clear() {
      waiting = [];
    },
  };
}
