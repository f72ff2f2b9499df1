import { getAddress } from "ethers";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readHex, readHexList, readInteger, readNullable } from "../../lib/postgres/row.ts";

export type RecentBlock = {
  number: number;
  proposer: string;
  round: number | null;
  sealedBy: string[];
  /** Whose turns passed before it was proposed. */
  missed: string[];
  /** Seconds since the block before it; null for the first one looked at. */
  seconds: number | null;
};

/** The newest `count` blocks with who proposed and who sealed them, oldest first; without the genesis block. */
export async function readRecentBlocks(db: Queryable, count: number): Promise<RecentBlock[]> {
  const { rows } = await db.query({
    name: "recent-blocks",
    text: `select b.number, b.time, b.proposer, b.round, b.missed,
        array(select s.validator from chain.seal s where s.block = b.number order by s.validator) as sealers
      from chain.block b where b.number > 0 order by b.number desc limit $1`,
    values: [count],
  });
  const oldestFirst = rows.toReversed();
  return oldestFirst.map((row, index) => {
    const before = oldestFirst[index - 1];
    return {
      number: readInteger(row, "number"),
      proposer: getAddress(readHex(row, "proposer")),
      round: readNullable(readInteger, row, "round"),
      sealedBy: readHexList(row, "sealers").map((sealer) => getAddress(sealer)),
      missed: readHexList(row, "missed").map((address) => getAddress(address)),
      seconds:
        before === undefined ? null : Math.max(0, readInteger(row, "time") - readInteger(before, "time")),
    };
  });
}
