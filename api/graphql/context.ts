import DataLoader from "dataloader";
import type { Refusal } from "../../lib/http-service/refusal.ts";
import { readBlockRows } from "../read/block-lists.ts";
import type { Page, PageQuery } from "../read/page.ts";
import type { ReadModel } from "../read/read-model.ts";
import { listTransactionsOfBlocks } from "../read/transaction-lists.ts";
import type { BlockRecord, BlockRow, ConsensusRecord } from "../records/block.ts";
import type { TransactionRow } from "../records/transaction.ts";
import type { HeadMemo } from "./head-memo.ts";

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
  /** What has no arguments: read once a head for all requests. */
  memo: Pick<HeadMemo, "get">;
};

/** `costMax` lets no more come together; a level that has more takes another query. */
const batched = { maxBatchSize: 100 };

export function createContext({ read, memo }: Pick<GraphqlContext, "read" | "memo">): GraphqlContext {
  const transactionPages = new Map<string, DataLoader<number, Page<TransactionRow> | Refusal>>();

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
    memo,
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
