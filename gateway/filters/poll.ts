import { LRUCache } from "lru-cache";
import { createBloomTest } from "../../lib/chain/log-bloom.ts";
import { type Answer, ownAnswer } from "../json-rpc/answer.ts";
import { isRefusal, type Refusal } from "../json-rpc/refusal.ts";
import type { PendingTransactions } from "../subscriptions/pending/pending-transactions.ts";
import type { FilterName, FilterRow } from "./filter-store.ts";
import { type LogFilter, readLogFilter } from "./log-filter.ts";
import type { RecentBlocks } from "./recent-blocks.ts";

/**
 * What is new since a filter's cursor, and the cursor behind it. `ended`: the cursor is of another chain;
 * `unanswered`: no validator answers.
 */
export type Step = { answer: Answer; cursor: string } | Refusal | "ended" | "unanswered";

/** Has a validator answer `eth_getLogs`, as it writes it: logs may be long, and are not made into objects here. */
export type AskLogs = (
  filter: Readonly<Record<string, unknown>>,
  /** How many blocks it spans. */
  blocks: bigint,
) => Promise<Answer | Refusal | undefined>;

type Block = { number: bigint; hash: string };

/** Filters of logs that are read and hashed already, by about what they take: six bytes of bits for 69 of text. */
const criteriaBytesRemembered = 8 * 1024 * 1024;

/** A filter of logs, with the test whether a block may have what it wants. */
type ReadFilter = { filter: LogFilter; test: (bloom: Uint8Array | undefined) => boolean };

/** Looks what is new for a filter's row. Rejects where Redis does not answer. */
export function createPoll({
  blocks,
  pending,
  blocksPerPollMax,
}: {
  blocks: RecentBlocks;
  pending: Pick<PendingTransactions, "after">;
  blocksPerPollMax: () => number;
}): (name: FilterName, row: FilterRow, askLogs: AskLogs) => Promise<Step> {
  const read = new LRUCache<string, ReadFilter>({ maxSize: criteriaBytesRemembered });

  /** A filter's criteria never change, and nobody else's has its id. */
  function readOnce({ id }: FilterName, criteria: string): ReadFilter | undefined {
    const known = read.get(id);
    if (known !== undefined) return known;
    const filter = readLogFilter(JSON.parse(criteria));
    if (isRefusal(filter)) return undefined;
    const made = { filter, test: createBloomTest(filter.criteria) };
    read.set(id, made, { size: criteria.length + 1000 });
    return made;
  }

  async function pollPending({ cursor }: FilterRow): Promise<Step> {
    const { hashes, cursor: next } = await pending.after(cursor);
    return { answer: ownAnswer(JSON.stringify(hashes)), cursor: next };
  }

  async function pollBlocks(from: bigint, to: bigint, keyId: string): Promise<Answer | undefined> {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
    const hashes = await Promise.all(numbers.map((number) => blocks.hashAt(number, keyId)));
    return hashes.includes(undefined) ? undefined : ownAnswer(JSON.stringify(hashes));
  }

  async function pollLogs(
    { filter, test }: ReadFilter,
    { after, upTo }: { after: bigint; upTo: bigint },
    askLogs: AskLogs,
  ): Promise<Answer | Refusal | undefined> {
    const from = later(after + 1n, filter.from);
    const to = filter.to !== undefined && filter.to < upTo ? filter.to : upTo;
    if (from > to || !blocks.mayMatch({ from, to }, test)) return nothing;
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    return askLogs({ ...filter.members, ...range }, to - from + 1n);
  }

  async function pollOf(
    name: FilterName,
    row: FilterRow,
    { after, upTo, askLogs }: { after: bigint; upTo: bigint; askLogs: AskLogs },
  ): Promise<Answer | Refusal | undefined> {
    if (row.kind === "blocks") return pollBlocks(after + 1n, upTo, name.keyId);
    const found = readOnce(name, row.criteria);
    return found === undefined ? undefined : pollLogs(found, { after, upTo }, askLogs);
  }

  return async (name, row, askLogs) => {
    const { keyId } = name;
    if (row.kind === "pending") return pollPending(row);
    const head = blocks.head();
    const last = readBlockCursor(row.cursor);
    if (head === undefined || last === undefined) return "unanswered";
    // Another gateway is ahead of this one, or its chain has ended.
    if (last.number > head.number) {
      return blocks.hasEnded(last.hash) ? "ended" : { answer: nothing, cursor: row.cursor };
    }
    const hash = await blocks.hashAt(last.number, keyId);
    if (hash === undefined) return "unanswered";
    if (hash !== last.hash) return "ended";
    const number = earlier(head.number, last.number + BigInt(blocksPerPollMax()));
    if (number === last.number) return { answer: nothing, cursor: row.cursor };
    const [answer, nextHash] = await Promise.all([
      pollOf(name, row, { after: last.number, upTo: number, askLogs }),
      blocks.hashAt(number, keyId),
    ]);
    if (answer === undefined || nextHash === undefined) return "unanswered";
    return isRefusal(answer) ? answer : { answer, cursor: blockCursor({ number, hash: nextHash }) };
  };
}

const nothing = ownAnswer("[]");

/** The cursor of a filter of blocks or logs: the last block that was polled. */
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
