import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { onlyRow, readHex, readInteger, readNullable } from "../../lib/postgres/row.ts";
import type { RankingRecord, ValidatorRecord } from "../records/block.ts";

/** Over how many of the newest blocks validators are judged. */
export const windowBlocks = 1000;

export const rankingFormula =
  "score = round(1000 × (0.8 × proposed / turns + 0.2 × sealed / sealable)); turns = proposed + missedTurns; " +
  "a fraction of nothing counts 1. A quorum of seals suffices, so a healthy validator's seal is often not there, and seals weigh little.";
const proposedWeight = 0.8;
const sealedWeight = 0.2;

/** Who validates, in an order, and under which names. */
export type ValidatorSet = { active: readonly string[]; nameOf: (address: string) => string | null };

export type ValidatorCounts = {
  validators: ValidatorRecord[];
  fromBlock: number | null;
  toBlock: number | null;
};

/**
 * What each validator did in the window, from the index: those that validate now, and those that did in the window. A
 * chain without validators (a development chain) has none.
 */
export async function countValidators(
  db: Queryable,
  { active, nameOf }: ValidatorSet,
): Promise<ValidatorCounts> {
  const { rows: found } = await db.query({
    name: "validator-window",
    text: "select max(number) as last from chain.block",
  });
  const toBlock = readNullable(readInteger, onlyRow(found), "last");
  if (active.length === 0 || toBlock === null || toBlock === 0) {
    return {
      validators: active.map((address) => activeWithoutCounts(address, nameOf)),
      fromBlock: null,
      toBlock: null,
    };
  }
  // The genesis block was proposed by nobody.
  const fromBlock = Math.max(1, toBlock - windowBlocks + 1);
  const { rows } = await db.query({
    name: "validator-counts",
    text: `with recent as (select number, proposer, missed, round from chain.block where number between $1 and $2),
      proposals as (select proposer as address, count(*) as n, max(number) as last from recent group by proposer),
      misses as (select m as address, count(*) as n from recent, unnest(missed) m group by m),
      seals as (select validator as address, count(*) as n from chain.seal where block between $1 and $2 group by validator)
      select address, coalesce(p.n, 0) as proposed, coalesce(m.n, 0) as missed, coalesce(s.n, 0) as sealed, p.last,
        (select count(distinct block) from chain.seal where block between $1 and $2) as sealable
      from proposals p full join misses m using (address) full join seals s using (address)`,
    values: [fromBlock, toBlock],
  });
  const counted = new Map(
    rows.map((row) => {
      const address = checksumAddress(readHex(row, "address"));
      const proposed = readInteger(row, "proposed");
      const missedTurns = readInteger(row, "missed");
      return [
        address,
        {
          ...activeWithoutCounts(address, nameOf),
          active: active.includes(address),
          proposed,
          turns: proposed + missedTurns,
          missedTurns,
          sealed: readInteger(row, "sealed"),
          sealable: readInteger(row, "sealable"),
          lastProposedBlock: readNullable(readInteger, row, "last"),
        },
      ];
    }),
  );
  const sealable = [...counted.values()][0]?.sealable ?? 0;
  for (const address of active) {
    if (!counted.has(address)) counted.set(address, { ...activeWithoutCounts(address, nameOf), sealable });
  }
  return { validators: [...counted.values()].sort(byAddress), fromBlock, toBlock };
}

function activeWithoutCounts(address: string, nameOf: ValidatorSet["nameOf"]): ValidatorRecord {
  return {
    address,
    name: nameOf(address),
    active: true,
    proposed: 0,
    turns: 0,
    missedTurns: 0,
    sealed: 0,
    sealable: 0,
    lastProposedBlock: null,
    windowBlocks,
  };
}

/** Validators by their score; equal scores share a rank, in the order of their addresses. */
export function rankValidators({
  validators,
  fromBlock,
  toBlock,
}: ValidatorCounts): Omit<RankingRecord, "note"> {
  const scored = validators
    .map((validator) => ({ score: scoreOf(validator), ...validator }))
    .sort((one, other) => other.score - one.score || byAddress(one, other));
  const data: RankingRecord["data"] = [];
  for (const [index, validator] of scored.entries()) {
    const previous = data.at(-1);
    data.push({ rank: previous?.score === validator.score ? previous.rank : index + 1, ...validator });
  }
  return { windowBlocks, fromBlock, toBlock, formula: rankingFormula, data };
}

function scoreOf({ proposed, turns, sealed, sealable }: ValidatorRecord): number {
  return Math.round(
    1000 * (proposedWeight * fraction(proposed, turns) + sealedWeight * fraction(sealed, sealable)),
  );
}

function fraction(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}

function byAddress({ address: one }: { address: string }, { address: other }: { address: string }): number {
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1;
}
