import type { Queryable } from "../../lib/postgres/queryable.ts";
import type { RankingRecord, ValidatorRecord, ValidatorsRecord } from "../records/block.ts";
import type { ChainHead } from "./chain-head.ts";
import { countValidators, rankValidators } from "./validator-counts.ts";

const developmentNote = "This is a development chain: nobody validates it, so there is nothing to rank";

/** The chain's validators and what they did, counted in the index. */
export function createValidators({
  head,
  db,
  nameOf,
}: {
  head: Pick<ChainHead, "consensus">;
  db: Queryable;
  nameOf: (address: string) => string | null;
}) {
  async function count() {
    const { kind, validators } = await head.consensus();
    return { isDev: kind === "dev", counts: await countValidators(db, { active: validators, nameOf }) };
  }

  return {
    async validators(): Promise<ValidatorsRecord> {
      const { isDev, counts } = await count();
      return isDev ? { data: [], note: developmentNote } : { data: counts.validators, note: null };
    },

    async validator(address: string): Promise<ValidatorRecord | undefined> {
      const { counts } = await count();
      return counts.validators.find((validator) => validator.address === address);
    },

    async ranking(): Promise<RankingRecord> {
      const { isDev, counts } = await count();
      const ranking = rankValidators(counts);
      return isDev
        ? { ...ranking, fromBlock: null, toBlock: null, data: [], note: developmentNote }
        : { ...ranking, note: null };
    },
  };
}
