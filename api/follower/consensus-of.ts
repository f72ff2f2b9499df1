import {
  type BlockHeader,
  blockHash,
  readBlockHeader,
  sealHash,
  signerOf,
} from "../../lib/ibft/block-header.ts";
import { decodeExtraData, type ExtraData } from "../../lib/ibft/extra-data.ts";
import { missedTurns } from "../../lib/ibft/quorum.ts";

/** What IBFT 2.0 or QBFT says of one block. Addresses in lower case. */
export type BlockConsensus = {
  /** Null on a dev chain. */
  round: number | null;
  /** Whose turns passed before this round. */
  missed: readonly string[];
  /** Who sealed it, as far as anybody shows; empty where nobody was asked. Ascending. */
  sealers: readonly string[];
};

const devConsensus: BlockConsensus = { round: null, missed: [], sealers: [] };
/** A column of PostgreSQL. Only a lie says more. */
const roundMax = 2 ** 31 - 1;

/** Round and missed turns, from a block's own `extraData`. */
export function consensusOf({ extraData, miner }: { extraData: string; miner: string }): BlockConsensus {
  const decoded = decodeExtraData(extraData);
  if (!("extraData" in decoded)) return devConsensus;
  return { ...turnsOf(decoded.extraData, miner), sealers: [] };
}

/**
 * The same with the sealers: the union of what several validators show of one block, since each keeps the first seals that
 * it saw. Neither the round nor the seals are part of the block's hash, so anybody can make them up: a copy counts only
 * with the header that has this hash, a seal only where it is a validator's signature, and the round is the one that most
 * validators have signed.
 *
 * @param json the block as JSON-RPC told it.
 * @param copies the `extraData` that validators show, besides the block's own.
 */
export function sealedConsensusOf({
  json,
  copies,
}: {
  json: unknown;
  copies: readonly string[];
}): BlockConsensus {
  const read = readBlockHeader(json);
  if (!("header" in read)) return devConsensus;
  const { header } = read;
  const byRound = new Map<number, { extraData: ExtraData; seals: Set<string> }>();
  for (const extraData of [header.extraData, ...copies.flatMap(decoded)]) {
    if (blockHash({ ...header, extraData }) !== header.hash) continue;
    const known = byRound.get(extraData.round) ?? { extraData, seals: new Set() };
    byRound.set(extraData.round, known);
    // No copy has more seals than there are validators; more are somebody's attempt to make us work.
    for (const seal of extraData.seals.slice(0, extraData.validators.length)) known.seals.add(seal);
  }
  const [best] = [...byRound.values()]
    .map(({ extraData, seals }) => ({ extraData, sealers: sealersOf({ header, extraData, seals }) }))
    .sort((one, other) => other.sealers.length - one.sealers.length);
  if (best === undefined) return { ...turnsOf(header.extraData, header.miner), sealers: [] };
  return { ...turnsOf(best.extraData, header.miner), sealers: best.sealers };
}

function turnsOf({ validators, round }: ExtraData, miner: string): Omit<BlockConsensus, "sealers"> {
  return {
    round: Math.min(round, roundMax),
    missed: missedTurns({ validators, proposer: miner, round }),
  };
}

function sealersOf({
  header,
  extraData,
  seals,
}: {
  header: BlockHeader;
  extraData: ExtraData;
  seals: ReadonlySet<string>;
}): string[] {
  const digest = sealHash({ ...header, extraData });
  const validators = new Set(extraData.validators);
  const signers = new Set([...seals].flatMap((seal) => signerOf(digest, seal) ?? []));
  return [...signers].filter((signer) => validators.has(signer)).sort();
}

function decoded(text: string): ExtraData[] {
  const read = decodeExtraData(text);
  return "extraData" in read ? [read.extraData] : [];
}
