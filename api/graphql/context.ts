import DataLoader from "dataloader";
import type { Refusal } from "../../lib/http-service/refusal.ts";
import { readBlockRows } from "../read/block-lists.ts";
import type { Page, PageQuery } from "../read/page.ts";
import type { ReadModel } from "../read/read-model.ts";
import { listTransactionsOfBlocks } from "../read/transaction-lists.ts";
import type { BlockRecord, BlockRow, ConsensusRecord } from "../records/block.ts";
import type { TransactionRow } from "../records/transaction.ts";

/** What the fields of one request share: whatever several of them need is asked for once. */
export type GraphqlContext = {
  read: ReadModel;
  /** Blocks of the chain by number. */
  blocks: DataLoader<number, BlockRecord | undefined>;
  consensus: DataLoader<number, ConsensusRecord | undefined>;
  /** Blocks of the index by number: one query for all that a level of the query needs. */
  blockRows: DataLoader<number, BlockRow | undefined>;
  /** The same page of the transactions of several blocks: one query for all of a level. */
  blockTransactions(query: PageQuery): DataLoader<number, Page<TransactionRow> | Refusal>;
  /** What has no arguments: however many aliases ask for it, it is read once. */
  once(name: string, read: () => unknown): unknown;
};

/** `costMax` lets no more come together; a level that has more takes another query. */
const batched = { maxBatchSize: 100 };

export function createContext(read: ReadModel): GraphqlContext {
  const transactionPages = new Map<string, DataLoader<number, Page<TransactionRow> | Refusal>>();
  const known = new Map<string, unknown>();

  return {
    read,
    blocks: new DataLoader((numbers) => each(numbers, (number) => read.block(number))),
    consensus: new DataLoader((numbers) => each(numbers, (number) => read.blockConsensus(number))),
    blockRows: new DataLoader((numbers) => readBlockRows(read.db, numbers), batched),
    blockTransactions(query) {
      const key = JSON.stringify([query.limit, query.cursor]);
      const loader = transactionPages.get(key) ?? createPageLoader(read, query);
      transactionPages.set(key, loader);
      return loader;
    },
    once(name, make) {
      if (!known.has(name)) known.set(name, make());
      return known.get(name);
    },
  };
}

function createPageLoader(
  { db }: ReadModel,
  query: PageQuery,
): DataLoader<number, Page<TransactionRow> | Refusal> {
  return new DataLoader(async (numbers): Promise<(Page<TransactionRow> | Refusal)[]> => {
    const pages = await listTransactionsOfBlocks(db, numbers, query);
    return Array.isArray(pages) ? pages : numbers.map(() => pages);
  }, batched);
}

/** One that fails does not take the others with it. */
async function each<Value>(
  numbers: readonly number[],
  read: (number: number) => Promise<Value>,
): Promise<(Value | Error)[]> {
  const settled = await Promise.allSettled(numbers.map(read));
  return settled.map((one) => (one.status === "fulfilled" ? one.value : toError(one.reason)));
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("a read failed", { cause: reason });
}
