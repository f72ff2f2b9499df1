import { network } from "../../lib/network.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { ChainRecord } from "../records/chain.ts";
import { timesOf } from "../records/values.ts";
import { type ChainHead, consensusOf } from "./chain-head.ts";
import { type IndexState, readIndexState } from "./page.ts";
import { readBlockTimes } from "./statistics.ts";
import { whileAway } from "./while-away.ts";

const averageOverBlocks = 100;

/** What the chain is as a whole: its names, newest block, validators and speed, and up to where it is indexed. */
export function createReadChain({
  reader,
  head,
  db,
  settings,
  now,
}: {
  reader: Pick<ChainReader, "block" | "gasPrice">;
  head: ChainHead;
  db: Queryable;
  /** Read each time. */
  settings: { readonly blockTimeSeconds: number; readonly stalledAfterMs: number };
  now: () => number;
}): () => Promise<ChainRecord> {
  let genesis: string | undefined;
  let lastIndex: Pick<IndexState, "epoch" | "indexedBlock"> = { epoch: 0, indexedBlock: null };

  async function genesisHash(): Promise<string> {
    // A development chain may be reset while we run.
    if (genesis !== undefined && (await head.consensus()).kind !== "dev") return genesis;
    genesis = (await reader.block(0))?.hash;
    return genesis ?? (await head.latest()).hash;
  }

  /** Where the index ended when it last said so: while it is away, the chain's epoch does not go back to 0. */
  async function indexState(): Promise<Pick<IndexState, "epoch" | "indexedBlock">> {
    lastIndex = await whileAway(readIndexState(db), lastIndex);
    return lastIndex;
  }

  return async () => {
    const block = await head.latest();
    const { kind, validators, quorum } = consensusOf(block);
    const [hash, gasPrice, index, times] = await Promise.all([
      genesisHash(),
      reader.gasPrice(),
      indexState(),
      averageBlockTime(db),
    ]);
    return {
      chainId: network.chainId,
      chainIdHex: `0x${network.chainId.toString(16)}`,
      name: network.chainName,
      nativeCurrency: network.nativeCurrency,
      blockNumber: block.number,
      blockHash: block.hash,
      ...timesOf(block.timestamp),
      genesisHash: hash,
      epoch: index.epoch,
      consensus: kind,
      blockTimeSeconds: settings.blockTimeSeconds,
      averageBlockTimeSeconds: times,
      validatorCount: validators.length,
      quorum,
      stalled: now() - block.timestamp * 1000 > settings.stalledAfterMs,
      gasPrice: gasPrice.toString(),
      indexedBlock: index.indexedBlock,
    };
  };
}

async function averageBlockTime(db: Queryable): Promise<number | null> {
  const { data } = await whileAway(readBlockTimes(db, averageOverBlocks), { data: [], indexedBlock: null });
  if (data.length === 0) return null;
  return data.reduce((sum, { seconds }) => sum + seconds, 0) / data.length;
}
