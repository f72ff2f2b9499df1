import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { burnSinkAddress } from "../../lib/fee-collector/fee-addresses.ts";
import { feeSources, isFeeSource } from "../../lib/fee-collector/fee-sources.ts";
import { network } from "../../lib/network.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readBigint, readHex, readInteger, readNullable, readText } from "../../lib/postgres/row.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { BurnEventRecord, BurnsRecord } from "../records/chain.ts";
import { timesOf } from "../records/values.ts";
import { type PageQuery, readIndexState, readPage } from "./page.ts";

/** Of a fee, in hundredths of a percent: 30 % are burned, 70 % go to the treasury. */
export const burnPolicy = { burnBps: 3000, treasuryBps: 7000 } as const;
const daysShown = 30;

/** What was burned: all seven sources and the last 30 days (UTC), also those without a payment. */
export async function readBurns({
  db,
  reader,
  feeCollector,
}: {
  db: Queryable;
  reader: Pick<ChainReader, "account">;
  /** Undefined where no fees are taken. */
  feeCollector: string | undefined;
}): Promise<BurnsRecord> {
  const [{ rows: sums }, { rows: lasts }, { rows: days }, state] = await Promise.all([
    db.query({
      name: "burn-sums",
      text: `select source, sum(payments)::bigint as payments, sum(amount)::text as amount, sum(burned)::text as burned,
        sum(treasury)::text as treasury from chain.burn_total group by source`,
    }),
    db.query({
      // In the very order of burn_by_source: of a source that burned nothing the planner would read all others' burns.
      name: "burn-lasts",
      text: `select source, (select block from chain.burn where burn.source between known.source and known.source
          order by burn.source, block desc, log_index desc limit 1) as block
        from unnest($1::text[]) as known (source)`,
      values: [feeSources],
    }),
    db.query({
      name: "burn-days",
      text: `select (current_date - days.ago) as day, coalesce(sum(burned), 0)::text as burned
        from generate_series(0, $1::int - 1) as days (ago) left join chain.burn_total on day = current_date - days.ago
        group by days.ago order by days.ago desc`,
      values: [daysShown],
    }),
    readIndexState(db),
  ]);
  const sumOf = new Map(sums.map((row) => [readText(row, "source"), row]));
  const lastOf = new Map(
    lasts.map((row) => [readText(row, "source"), readNullable(readInteger, row, "block")]),
  );
  const counted = feeSources.map((source) => {
    const row = sumOf.get(source) ?? nothing;
    return {
      source,
      payments: readInteger(row, "payments"),
      amount: readBigint(row, "amount"),
      burned: readBigint(row, "burned"),
      treasury: readBigint(row, "treasury"),
      lastBlock: lastOf.get(source) ?? null,
    };
  });
  const total = (key: "amount" | "burned" | "treasury") =>
    counted.reduce((sum, source) => sum + source[key], 0n).toString();
  return {
    policy: burnPolicy,
    token: network.nativeCurrency,
    contract: feeCollector ?? null,
    burnSink: feeCollector === undefined ? null : await readBurnSink(reader, state.indexedBlock),
    totals: {
      payments: counted.reduce((sum, { payments }) => sum + payments, 0),
      amount: total("amount"),
      burned: total("burned"),
      treasury: total("treasury"),
    },
    sources: counted.map(({ amount, burned, treasury, ...source }) => ({
      ...source,
      amount: amount.toString(),
      burned: burned.toString(),
      treasury: treasury.toString(),
    })),
    byDay: days.map((row) => ({ date: readText(row, "day"), burned: readText(row, "burned") })),
    indexedBlock: state.indexedBlock,
  };
}

/** What the chain says is left out while it is away: the sums are the index's. */
async function readBurnSink(
  reader: Pick<ChainReader, "account">,
  indexedBlock: number | null,
): Promise<BurnsRecord["burnSink"]> {
  const address = burnSinkAddress;
  if (indexedBlock === null) return { address, code: null, balance: null };
  try {
    const { code, balance } = await reader.account(address, indexedBlock);
    return { address, code, balance: balance.toString() };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { address, code: null, balance: null };
    throw error;
  }
}

const nothing = { payments: 0, amount: "0", burned: "0", treasury: "0" };

/** Each payment that burned something, newest first. */
export function listBurnEvents(db: Queryable, query: PageQuery) {
  return readPage<BurnEventRecord>({
    db,
    query,
    statement: ({ before, count }) => ({
      name: "burn-events",
      text: `select e.block, e.log_index, e.source, e.order_id, e.payer, e.amount::text, e.burned::text, e.treasury::text,
          x.hash, b.time
        from (select * from chain.burn where (block, log_index) < ($1, $2)
            order by block desc, log_index desc limit $3) e
          join chain.block b on b.number = e.block join chain.tx x on x.block = e.block and x.index = e.tx_index
        order by e.block desc, e.log_index desc`,
      values: [before.block, before.index, count],
    }),
    toRecord: (row) => ({
      blockNumber: readInteger(row, "block"),
      logIndex: readInteger(row, "log_index"),
      transactionHash: readHex(row, "hash"),
      ...timesOf(readInteger(row, "time")),
      source: sourceOf(readText(row, "source")),
      orderId: readHex(row, "order_id"),
      payer: checksumOrNull(readNullable(readHex, row, "payer")),
      amount: readText(row, "amount"),
      burned: readText(row, "burned"),
      treasury: readText(row, "treasury"),
    }),
    placeOf: (row) => ({ block: readInteger(row, "block"), index: readInteger(row, "log_index"), item: 0 }),
  });
}

function checksumOrNull(address: string | null): string | null {
  return address === null ? null : checksumAddress(address);
}

function sourceOf(text: string): BurnEventRecord["source"] {
  // The follower writes known ones only.
  if (!isFeeSource(text)) throw new Error(`chain.burn has the source ${text}, which nobody knows`);
  return text;
}
