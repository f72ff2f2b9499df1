import { LRUCache } from "lru-cache";
import { isRefusal } from "../../refusal.ts";
import type { AskChain } from "../ask-chain.ts";
import { createBloomTest } from "../logs/log-bloom.ts";
import type { PendingTransactions } from "../pending/pending-transactions.ts";
import type { FilterRow } from "./filter-store.ts";
import { type LogFilter, readLogFilter } from "./log-filter.ts";
import type { RecentBlocks } from "./recent-blocks.ts";

/**
 * What is new since a filter's cursor, as JSON text, and the cursor behind it. `ended`: the cursor is of another chain;
 * `unanswered`: no validator tells.
 */
export type Step = { resultText: string; cursor: string } | "ended" | "unanswered";

type Block = { number: bigint; hash: string };

const testsRemembered = 1000;

/** Looks what is new for a filter's row. Rejects where Redis does not answer. */
export function createPoll({
  blocks,
  pending,
  askChain,
  blocksPerPollMax,
}: {
  blocks: RecentBlocks;
  pending: Pick<PendingTransactions, "after">;
  askChain: AskChain;
  blocksPerPollMax: number;
}): (row: FilterRow) => Promise<Step> {
  const tests = new LRUCache<string, ReturnType<typeof createBloomTest>>({ max: testsRemembered });

  function mayMatch(range: { from: bigint; to: bigint }, { criteria }: LogFilter): boolean {
    const name = JSON.stringify(criteria);
    const test = tests.get(name) ?? createBloomTest(criteria);
    tests.set(name, test);
    return blocks.mayMatch(range, test);
  }

  async function pollPending({ cursor }: FilterRow): Promise<Step> {
    const { hashes, cursor: next } = await pending.after(cursor);
    return { resultText: JSON.stringify(hashes), cursor: next };
  }

  async function pollBlocks(from: bigint, to: bigint): Promise<string | undefined> {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
    const hashes = await Promise.all(numbers.map((number) => blocks.hashAt(number)));
    return hashes.includes(undefined) ? undefined : JSON.stringify(hashes);
  }

  async function pollLogs(criteria: string, after: bigint, upTo: bigint): Promise<string | undefined> {
    const filter = readLogFilter(JSON.parse(criteria));
    if (isRefusal(filter)) return undefined;
    const from = later(after + 1n, filter.from);
    const to = filter.to !== undefined && filter.to < upTo ? filter.to : upTo;
    if (from > to || !mayMatch({ from, to }, filter)) return "[]";
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    const answer = await askChain("eth_getLogs", [{ ...filter.members, ...range }]);
    return Array.isArray(answer?.result) ? JSON.stringify(answer.result) : undefined;
  }

  return async (row) => {
    if (row.kind === "pending") return pollPending(row);
    const head = blocks.head();
    const last = readBlockCursor(row.cursor);
    if (head === undefined || last === undefined) return "unanswered";
    // Another gateway is ahead of this one, or its chain has ended.
    if (last.number > head.number) {
      return blocks.hasEnded(last.hash) ? "ended" : { resultText: "[]", cursor: row.cursor };
    }
    const hash = await blocks.hashAt(last.number);
    if (hash === undefined) return "unanswered";
    if (hash !== last.hash) return "ended";
    const number = earlier(head.number, last.number + BigInt(blocksPerPollMax));
    if (number === last.number) return { resultText: "[]", cursor: row.cursor };
    const [resultText, nextHash] = await Promise.all([
      row.kind === "blocks"
        ? pollBlocks(last.number + 1n, number)
        : pollLogs(row.criteria, last.number, number),
      blocks.hashAt(number),
    ]);
    if (resultText === undefined || nextHash === undefined) return "unanswered";
    return { resultText, cursor: blockCursor({ number, hash: nextHash }) };
  };
}

/** The cursor of a filter of blocks or logs: the block up to which it was told. */
export function blockCursor({ number, hash }: Block): string {
  return `${number}:${hash}`;
}

function readBlockCursor(cursor: string): Block | undefined {
  const [, number, hash] = /^(\d+):(0x[0-9a-f]{64})$/.exec(cursor) ?? [];
  return number === undefined || hash === undefined ? undefined : { number: BigInt(number), hash };
}

function later(one: bigint, other: bigint | undefined): bigint {
  return other !== undefined && other > one ? other : one;
}

function earlier(one: bigint, other: bigint): bigint {
  return other < one ? other : one;
}
