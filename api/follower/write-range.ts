import { unsealedSize } from "../../lib/ibft/unsealed-size.ts";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { transaction } from "../../lib/postgres/transaction.ts";
import { tokenTransfersOf } from "../chain/token-transfers.ts";
import type { Burn } from "./burns.ts";
import type { BlockConsensus } from "./consensus-of.ts";
import type { FollowPoint } from "./follow-point.ts";
import { type IndexRow, indexChannel, indexNews } from "./index-row.ts";
import type { ChainBlock } from "./read-range.ts";
import { booleanArray, byteaArray, byteaArrayTexts, numberArray } from "./sql-arrays.ts";
import type { NewToken, TokenMetadata } from "./token-metadata.ts";

export type IndexedTransfer = ReturnType<typeof transfersOf>[number];
/** Blocks in a row with all that is kept of them. */
export type Range = {
  blocks: readonly ChainBlock[];
  consensus: readonly BlockConsensus[];
  transfers: readonly IndexedTransfer[];
  tokens: readonly (NewToken & TokenMetadata)[];
  burns: readonly Burn[];
};

/** The transfers of a block, each with its block's and transaction's place. */
export function transfersOf({ block, receipts }: ChainBlock) {
  return receipts.flatMap(({ logs, transactionIndex }) =>
    logs.flatMap((log) =>
      tokenTransfersOf(log).map((transfer) => ({ ...transfer, block: block.number, transactionIndex })),
    ),
  );
}

/**
 * Adds a range to the index in one transaction, provided that the index still ends where `row` says: so each block is
 * there once, however many followers there are and wherever one of them is killed.
 *
 * @returns where the index ends now; undefined where somebody else was faster, and nothing was changed.
 */
export function writeRange({
  pool,
  row,
  range,
  atPoint,
}: {
  pool: PostgresPool;
  row: IndexRow;
  range: Range;
  atPoint: (point: FollowPoint) => void | Promise<void>;
}): Promise<IndexRow | undefined> {
  const last = range.blocks.at(-1)?.block;
  if (last === undefined) return Promise.resolve(row);
  const next = { ...row, next: last.number + 1, lastHash: last.hash };
  return transaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `update chain.follower set next = $1, last_hash = decode($2, 'hex')
       where next = $3 and epoch = $4`,
      [next.next, next.lastHash.slice(2), row.next, row.epoch],
    );
    if (rowCount !== 1) return undefined;
    await atPoint("in transaction");
    await insertBlocks(client, range);
    await insertSeals(client, range);
    await insertTransactions(client, range);
    await insertTransfers(client, range);
    await insertTokens(client, range);
    await insertBurns(client, range);
    await client.query("select pg_notify($1, $2)", [indexChannel, indexNews(next)]);
    await atPoint("before commit");
    return next;
  });
}

async function insertBlocks(client: Queryable, { blocks: all, consensus, transfers }: Range): Promise<void> {
  const blocks = all.map(({ block }) => block);
  const transferCounts = new Map<number, number>();
  for (const { block } of transfers) transferCounts.set(block, (transferCounts.get(block) ?? 0) + 1);
  await client.query({
    name: "index blocks",
    text: `insert into chain.block
      (number, hash, time, proposer, round, missed, gas_used, gas_limit, tx_count, transfer_count, size)
      select number, hash, time, proposer, round, missed::bytea[], gas_used, gas_limit, tx_count, transfer_count, size
      from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bytea[], $5::int[], $6::text[], $7::bigint[], $8::bigint[],
        $9::int[], $10::int[], $11::int[])
      as row (number, hash, time, proposer, round, missed, gas_used, gas_limit, tx_count, transfer_count, size)`,
    values: [
      numberArray(blocks.map(({ number }) => number)),
      byteaArray(blocks.map(({ hash }) => hash)),
      numberArray(blocks.map(({ timestamp }) => timestamp)),
      byteaArray(blocks.map(({ miner }) => miner)),
      numberArray(consensus.map(({ round }) => round)),
      byteaArrayTexts(consensus.map(({ missed }) => missed)),
      numberArray(blocks.map(({ gasUsed }) => gasUsed)),
      numberArray(blocks.map(({ gasLimit }) => gasLimit)),
      numberArray(blocks.map(({ transactions }) => transactions.length)),
      numberArray(blocks.map(({ number }) => transferCounts.get(number) ?? 0)),
      numberArray(blocks.map(unsealedSize)),
    ],
  });
}

async function insertSeals(client: Queryable, { blocks, consensus }: Range): Promise<void> {
  const seals = blocks.flatMap(({ block }, index) =>
    (consensus[index]?.sealers ?? []).map((validator) => ({ block: block.number, validator })),
  );
  if (seals.length === 0) return;
  await client.query({
    name: "index seals",
    text: "insert into chain.seal (block, validator) select * from unnest($1::bigint[], $2::bytea[])",
    values: [
      numberArray(seals.map(({ block }) => block)),
      byteaArray(seals.map(({ validator }) => validator)),
    ],
  });
}

const selectorDigits = 8;

async function insertTransactions(client: Queryable, { blocks }: Range): Promise<void> {
  const rows = blocks.flatMap(({ block, receipts }) =>
    block.transactions.flatMap((sent, index) => {
      const receipt = receipts[index];
      return receipt === undefined ? [] : [{ block: block.number, index, sent, receipt }];
    }),
  );
  if (rows.length === 0) return;
  await client.query({
    name: "index transactions",
    text: `insert into chain.tx
      (block, index, hash, sender, recipient, created, value, nonce, fee, gas_used, ok, type, selector)
      select * from unnest($1::bigint[], $2::int[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::numeric[],
        $8::bigint[], $9::numeric[], $10::bigint[], $11::boolean[], $12::smallint[], $13::bytea[])`,
    values: [
      numberArray(rows.map(({ block }) => block)),
      numberArray(rows.map(({ index }) => index)),
      byteaArray(rows.map(({ sent }) => sent.hash)),
      byteaArray(rows.map(({ sent }) => sent.from)),
      byteaArray(rows.map(({ sent }) => sent.to)),
      // Nodes name the address also where the creation failed and there is nothing.
      byteaArray(
        rows.map(({ sent, receipt }) =>
          sent.to === null && receipt.status === 1 ? receipt.contractAddress : null,
        ),
      ),
      numberArray(rows.map(({ sent }) => sent.value)),
      numberArray(rows.map(({ sent }) => sent.nonce)),
      numberArray(rows.map(({ receipt }) => receipt.gasUsed * receipt.effectiveGasPrice)),
      numberArray(rows.map(({ receipt }) => receipt.gasUsed)),
      booleanArray(rows.map(({ receipt }) => receipt.status === 1)),
      numberArray(rows.map(({ sent }) => sent.type)),
      byteaArray(
        rows.map(({ sent }) =>
          sent.to !== null && sent.input.length >= 2 + selectorDigits
            ? sent.input.slice(0, 2 + selectorDigits)
            : null,
        ),
      ),
    ],
  });
}

async function insertTransfers(client: Queryable, { transfers }: Range): Promise<void> {
  if (transfers.length === 0) return;
  await client.query({
    name: "index transfers",
    text: `insert into chain.transfer (block, log_index, item, tx_index, token, sender, recipient, value, token_id)
      select * from unnest($1::bigint[], $2::int[], $3::smallint[], $4::int[], $5::bytea[], $6::bytea[], $7::bytea[],
        $8::numeric[], $9::numeric[])`,
    values: [
      numberArray(transfers.map(({ block }) => block)),
      numberArray(transfers.map(({ logIndex }) => logIndex)),
      numberArray(transfers.map(({ item }) => item)),
      numberArray(transfers.map(({ transactionIndex }) => transactionIndex)),
      byteaArray(transfers.map(({ token }) => token)),
      byteaArray(transfers.map(({ from }) => from)),
      byteaArray(transfers.map(({ to }) => to)),
      numberArray(transfers.map(({ value }) => value)),
      numberArray(transfers.map(({ tokenId }) => tokenId)),
    ],
  });
}

async function insertTokens(client: Queryable, { tokens }: Range): Promise<void> {
  if (tokens.length === 0) return;
  await client.query(
    `insert into chain.token (address, kind, name, symbol, decimals)
     select * from unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::smallint[]) on conflict do nothing`,
    [
      byteaArray(tokens.map(({ address }) => address)),
      // Texts of others: node-postgres escapes them.
      tokens.map(({ kind }) => kind),
      tokens.map(({ name }) => name),
      tokens.map(({ symbol }) => symbol),
      numberArray(tokens.map(({ decimals }) => decimals)),
    ],
  );
}

async function insertBurns(client: Queryable, { burns }: Range): Promise<void> {
  if (burns.length === 0) return;
  const columns = [
    burns.map(({ source }) => source),
    numberArray(burns.map(({ amount }) => amount)),
    numberArray(burns.map(({ burned }) => burned)),
    numberArray(burns.map(({ treasury }) => treasury)),
  ];
  await client.query(
    `insert into chain.burn (source, amount, burned, treasury, block, log_index, tx_index, order_id, payer)
     select * from unnest($1::text[], $2::numeric[], $3::numeric[], $4::numeric[], $5::bigint[], $6::int[], $7::int[],
       $8::bytea[], $9::bytea[])`,
    [
      ...columns,
      numberArray(burns.map(({ blockNumber }) => blockNumber)),
      numberArray(burns.map(({ logIndex }) => logIndex)),
      numberArray(burns.map(({ transactionIndex }) => transactionIndex)),
      byteaArray(burns.map(({ orderId }) => orderId)),
      byteaArray(burns.map(({ payer }) => payer)),
    ],
  );
  await client.query(
    `insert into chain.burn_total as total (source, day, payments, amount, burned, treasury)
     select source, (to_timestamp(time) at time zone 'UTC')::date as day, count(*), sum(amount), sum(burned), sum(treasury)
     from unnest($1::text[], $2::numeric[], $3::numeric[], $4::numeric[], $5::bigint[])
       as burn (source, amount, burned, treasury, time)
     group by source, day
     on conflict (source, day) do update set payments = total.payments + excluded.payments,
       amount = total.amount + excluded.amount, burned = total.burned + excluded.burned,
       treasury = total.treasury + excluded.treasury`,
    [...columns, numberArray(burns.map(({ unixSeconds }) => unixSeconds))],
  );
}
