import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readHex, readInteger, readNullable } from "../../lib/postgres/row.ts";
import { transaction } from "../../lib/postgres/transaction.ts";

/** Where the index ends. Hashes in lower case. */
export type IndexRow = {
  /** Counts the chains that there have been, from 1. */
  epoch: number;
  genesisHash: string;
  /** The first block that is not in the index. */
  next: number;
  /** Of block `next - 1`; null where `next` is 0. */
  lastHash: string | null;
};

/** LISTEN here for what `indexNews` says, once it is committed. */
export const indexChannel = "chain_index";

/** `epoch.next` */
export function indexNews({ epoch, next }: Pick<IndexRow, "epoch" | "next">): string {
  return `${epoch}.${next}`;
}

export function readIndexNews(payload: string): Pick<IndexRow, "epoch" | "next"> | undefined {
  const [, epoch, next] = /^(\d{1,10})\.(\d{1,15})$/.exec(payload) ?? [];
  return epoch === undefined || next === undefined ? undefined : { epoch: Number(epoch), next: Number(next) };
}

/** Undefined before the first follower has begun. */
export async function readIndexRow(queryable: Queryable): Promise<IndexRow | undefined> {
  const { rows } = await queryable.query("select epoch, genesis_hash, next, last_hash from chain.follower");
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    epoch: readInteger(row, "epoch"),
    genesisHash: readHex(row, "genesis_hash"),
    next: readInteger(row, "next"),
    lastHash: readNullable(readHex, row, "last_hash"),
  };
}

/** Begins the index of a chain, where none has been begun. */
export async function beginIndex(queryable: Queryable, genesisHash: string): Promise<void> {
  await queryable.query(
    `insert into chain.follower (epoch, genesis_hash, next) values (1, decode($1, 'hex'), 0) on conflict do nothing`,
    [genesisHash.slice(2)],
  );
}

/**
 * Empties the index for another chain, provided that it is still where `row` says.
 *
 * @returns where it is then; undefined where somebody else was faster.
 */
export function emptyIndex({
  pool,
  row,
  genesisHash,
}: {
  pool: PostgresPool;
  row: IndexRow;
  genesisHash: string;
}): Promise<IndexRow | undefined> {
  const emptied: IndexRow = { epoch: row.epoch + 1, genesisHash, next: 0, lastHash: null };
  return transaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `update chain.follower set epoch = $1, genesis_hash = decode($2, 'hex'), next = 0, last_hash = null
       where epoch = $3 and next = $4`,
      [emptied.epoch, genesisHash.slice(2), row.epoch, row.next],
    );
    if (rowCount !== 1) return undefined;
    await client.query(
      "truncate chain.block, chain.seal, chain.tx, chain.transfer, chain.token, chain.burn, chain.burn_total",
    );
    await client.query("select pg_notify($1, $2)", [indexChannel, indexNews(emptied)]);
    return emptied;
  });
}
