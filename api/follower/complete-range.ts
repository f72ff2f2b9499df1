import { LRUCache } from "lru-cache";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import { readHex } from "../../lib/postgres/row.ts";
import type { BurnContract } from "./burns.ts";
import { burnsOf } from "./burns.ts";
import type { BlockConsensus } from "./consensus-of.ts";
import type { AskAll, ChainBlock } from "./read-range.ts";
import { byteaArray } from "./sql-arrays.ts";
import { type NewToken, readTokenMetadata } from "./token-metadata.ts";
import { type IndexedTransfer, type Range, transfersOf } from "./write-range.ts";

const knownTokensMax = 100_000;
/** A gateway's refusals of one token's call before the token goes without names: no contract holds up the index. */
const triesMax = 5;

/** Adds to blocks what their logs tell of: transfers, burns, and tokens that the index does not know yet. */
export function createCompleteRange({
  rpc,
  pool,
  burnContracts,
}: {
  rpc: AskAll;
  pool: PostgresPool;
  burnContracts: readonly BurnContract[];
}) {
  /** Tokens that are in the index, each with its epoch: an emptied index knows none. */
  const known = new LRUCache<string, number>({ max: knownTokensMax });
  let failedFirst: number | undefined;
  let tries = 0;

  async function newTokens(transfers: readonly IndexedTransfer[], epoch: number): Promise<NewToken[]> {
    const unknown = new Map<string, NewToken>();
    for (const { token, kind } of transfers) {
      if (known.get(token) !== epoch && !unknown.has(token)) unknown.set(token, { address: token, kind });
    }
    if (unknown.size === 0) return [];
    const { rows } = await pool.query("select address from chain.token where address = any ($1::bytea[])", [
      byteaArray([...unknown.keys()]),
    ]);
    for (const row of rows) {
      const address = readHex(row, "address");
      known.set(address, epoch);
      unknown.delete(address);
    }
    return [...unknown.values()];
  }

  return {
    async complete({
      blocks,
      consensus,
      epoch,
    }: {
      blocks: readonly ChainBlock[];
      consensus: readonly BlockConsensus[];
      epoch: number;
    }): Promise<Range> {
      const transfers = blocks.flatMap(transfersOf);
      const tokens = await newTokens(transfers, epoch);
      const first = blocks[0]?.block.number;
      if (failedFirst !== first) tries = 0;
      tries += 1;
      failedFirst = first;
      const metadata = await readTokenMetadata({ rpc, tokens, isLastTry: tries >= triesMax });
      failedFirst = undefined;
      return {
        blocks,
        consensus,
        transfers,
        tokens: tokens.flatMap((token, index) => {
          const said = metadata[index];
          return said === undefined ? [] : [{ ...token, ...said }];
        }),
        burns: blocks.flatMap((block) => burnsOf(block, burnContracts)),
      };
    },

    /** The range was written. */
    keep({ tokens }: Range, epoch: number): void {
      for (const { address } of tokens) known.set(address, epoch);
    },
  };
}
