import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readHex, readInteger, readText } from "../../lib/postgres/row.ts";
import type { BlockTimesRecord, GasRecord, ProposersRecord } from "../records/block.ts";
import { timesOf } from "../records/values.ts";
import { readIndexState } from "./page.ts";

/** Seconds between each of the newest `count` blocks and the one before it, oldest first. */
export async function readBlockTimes(db: Queryable, count: number): Promise<BlockTimesRecord> {
  const { rows } = await db.query({
    name: "block-times",
    text: "select number, time from chain.block order by number desc limit $1",
    values: [count + 1],
  });
  const blocks = rows
    .map((row) => ({ number: readInteger(row, "number"), time: readInteger(row, "time") }))
    .reverse();
  const data = blocks.slice(1).map(({ number, time }, index) => ({
    blockNumber: number,
    ...timesOf(time),
    seconds: Math.max(0, time - (blocks[index]?.time ?? time)),
  }));
  return { data, indexedBlock: (await readIndexState(db)).indexedBlock };
}

/** Gas of the newest `count` blocks, oldest first. */
export async function readGas(db: Queryable, count: number): Promise<GasRecord> {
  const { rows } = await db.query({
    name: "gas",
    text: `select number, time, gas_used::text, gas_limit::text from chain.block order by number desc limit $1`,
    values: [count],
  });
  const data = rows.reverse().map((row) => ({
    blockNumber: readInteger(row, "number"),
    ...timesOf(readInteger(row, "time")),
    gasUsed: readText(row, "gas_used"),
    gasLimit: readText(row, "gas_limit"),
  }));
  return { data, indexedBlock: (await readIndexState(db)).indexedBlock };
}

/** How the newest `count` blocks share out over their proposers. */
export async function readProposers(db: Queryable, count: number): Promise<ProposersRecord> {
  const { rows } = await db.query({
    name: "proposers",
    text: `select proposer, count(*) as blocks from
        (select proposer from chain.block where number > 0 order by number desc limit $1) newest
      group by proposer order by blocks desc, proposer`,
    values: [count],
  });
  const total = rows.reduce((sum, row) => sum + readInteger(row, "blocks"), 0);
  const data = rows.map((row) => ({
    proposer: checksumAddress(readHex(row, "proposer")),
    blocks: readInteger(row, "blocks"),
    share: readInteger(row, "blocks") / total,
  }));
  return { windowBlocks: count, data, indexedBlock: (await readIndexState(db)).indexedBlock };
}
