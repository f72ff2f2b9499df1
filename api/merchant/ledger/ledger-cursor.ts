import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readHex, readInteger } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";

/** How far the ledger has booked, of which chain. Hex in lower case, times in Unix seconds, of blocks. */
export type LedgerCursor = {
  /** Counts chains and FeeCollectors, from 1. */
  epoch: number;
  genesisHash: string;
  feeCollector: string;
  /** The first block that is not booked. */
  nextBlock: number;
  /** Of the block before it. */
  lastHash: string;
  lastBlockAt: number;
  /** The block whose deposit boxes were looked at last. */
  boxesBlock: number;
  boxesAt: number;
};

/** Undefined before the ledger has begun. */
export async function readLedgerCursor(queryable: Queryable): Promise<LedgerCursor | undefined> {
  const { rows } = await queryable.query(
    `select epoch, genesis_hash, fee_collector, next_block, last_hash, boxes_block,
       extract(epoch from last_block_at)::bigint as last_block_at, extract(epoch from boxes_at)::bigint as boxes_at
     from svc.chain_cursor join svc.chain_epochs using (epoch)`,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    epoch: readInteger(row, "epoch"),
    genesisHash: readHex(row, "genesis_hash"),
    feeCollector: readHex(row, "fee_collector"),
    nextBlock: readInteger(row, "next_block"),
    lastHash: readHex(row, "last_hash"),
    lastBlockAt: readInteger(row, "last_block_at"),
    boxesBlock: readInteger(row, "boxes_block"),
    boxesAt: readInteger(row, "boxes_at"),
  };
}

/**
 * Moves the cursor, provided that it is still where `cursor` says: the first statement of a transaction that books.
 * @returns whether it was.
 */
export async function moveLedgerCursor(
  client: Queryable,
  { from, to }: { from: LedgerCursor; to: LedgerCursor },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `update svc.chain_cursor set epoch = $1, next_block = $2, last_hash = decode($3, 'hex'),
       last_block_at = to_timestamp($4), boxes_block = $5, boxes_at = to_timestamp($6), moved_at = now()
     where epoch = $7 and next_block = $8`,
    [
      ...[to.epoch, to.nextBlock, to.lastHash.slice(2), to.lastBlockAt, to.boxesBlock, to.boxesAt],
      ...[from.epoch, from.nextBlock],
    ],
  );
  return rowCount === 1;
}

/**
 * Begins the next epoch after the chain's head: an order belongs to the epoch in which it was made, so nothing before can
 * be for one of this epoch. What earlier epochs have booked stays.
 *
 * @returns undefined where another process was faster.
 */
export function beginLedgerEpoch({
  pool,
  before,
  chain: { genesisHash, feeCollector, head },
}: {
  pool: Pick<PostgresPool, "connect">;
  before: LedgerCursor | undefined;
  chain: {
    genesisHash: string;
    feeCollector: string;
    head: { number: number; hash: string; timestamp: number };
  };
}): Promise<LedgerCursor | undefined> {
  const begun: LedgerCursor = {
    epoch: (before?.epoch ?? 0) + 1,
    ...{ genesisHash, feeCollector },
    ...{ nextBlock: head.number + 1, lastHash: head.hash, lastBlockAt: head.timestamp },
    ...{ boxesBlock: head.number, boxesAt: head.timestamp },
  };
  return transaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `insert into svc.chain_epochs (epoch, genesis_hash, fee_collector, first_block)
       values ($1, decode($2, 'hex'), decode($3, 'hex'), $4) on conflict do nothing`,
      [begun.epoch, genesisHash.slice(2), feeCollector.slice(2), begun.nextBlock],
    );
    if (rowCount !== 1) return undefined;
    if (before !== undefined) {
      if (!(await moveLedgerCursor(client, { from: before, to: begun }))) throw new MovedMeanwhileError();
      return begun;
    }
    await client.query(
      `insert into svc.chain_cursor (epoch, next_block, last_hash, last_block_at, boxes_block, boxes_at)
       values ($1, $2, decode($3, 'hex'), to_timestamp($4), $5, to_timestamp($6))`,
      [
        begun.epoch,
        begun.nextBlock,
        begun.lastHash.slice(2),
        begun.lastBlockAt,
        begun.boxesBlock,
        begun.boxesAt,
      ],
    );
    return begun;
  });
}

/** Another process has booked while this one began an epoch: nothing was begun, and the next round looks again. */
export class MovedMeanwhileError extends Error {
  override readonly name = "MovedMeanwhileError";

  constructor() {
    super("the ledger's cursor was moved meanwhile");
  }
}
