import { z } from "zod";
import { address, amount, bytes, hash, integer, times } from "./values.ts";

const size = integer.meta({ description: "Bytes, without commit seals and round" });

/**
 * A block. Commit seals and the round are not here, nor counted in its size: neither is part of the block's hash,
 * validators keep different ones, and this record never changes.
 */
export const blockRecord = z
  .strictObject({
    number: integer,
    hash,
    parentHash: hash,
    ...times,
    proposer: address.nullable().meta({ description: "Null for the genesis block" }),
    gasUsed: amount,
    gasLimit: amount,
    baseFeePerGas: amount.nullable(),
    size,
    transactionCount: integer,
    transactions: z.array(hash),
    transactionsRoot: hash,
    receiptsRoot: hash,
    stateRoot: hash,
    vanity: bytes.nullable(),
  })
  .meta({ id: "Block" });
export type BlockRecord = z.output<typeof blockRecord>;

/** A row of a list of blocks, from the index. */
export const blockRow = z
  .strictObject({
    number: integer,
    hash,
    ...times,
    proposer: address.nullable(),
    gasUsed: amount,
    gasLimit: amount,
    size,
    transactionCount: integer,
    transferCount: integer,
  })
  .meta({ id: "BlockSummary" });
export type BlockRow = z.output<typeof blockRow>;

export const consensusRecord = z
  .strictObject({
    blockNumber: integer,
    round: integer.nullable().meta({ description: "Null on a development chain" }),
    sealedBy: z.array(address),
    notSealed: z.array(address),
    missedTurns: z.array(address).meta({ description: "Whose turn to propose passed before this block" }),
    validators: z.array(address),
    quorum: integer,
  })
  .meta({ id: "BlockConsensus" });
export type ConsensusRecord = z.output<typeof consensusRecord>;

const validatorFields = {
  address,
  name: z.string().nullable(),
  active: z.boolean(),
  proposed: integer,
  turns: integer,
  missedTurns: integer,
  sealed: integer,
  sealable: integer,
  lastProposedBlock: integer.nullable(),
  windowBlocks: integer,
};

export const validatorRecord = z.strictObject(validatorFields).meta({ id: "Validator" });
export type ValidatorRecord = z.output<typeof validatorRecord>;

export const validatorsRecord = z
  .strictObject({ data: z.array(validatorRecord), note: z.string().nullable() })
  .meta({ id: "Validators" });
export type ValidatorsRecord = z.output<typeof validatorsRecord>;

export const rankingRecord = z
  .strictObject({
    windowBlocks: integer,
    fromBlock: integer.nullable(),
    toBlock: integer.nullable(),
    formula: z.string(),
    data: z.array(
      z
        .strictObject({ rank: z.int().min(1), score: integer.max(1000), ...validatorFields })
        .meta({ id: "RankedValidator" }),
    ),
    note: z.string().nullable(),
  })
  .meta({ id: "ValidatorRanking" });
export type RankingRecord = z.output<typeof rankingRecord>;

export const blockTimesRecord = z
  .strictObject({
    data: z.array(z.strictObject({ blockNumber: integer, ...times, seconds: integer })),
    indexedBlock: integer.nullable(),
  })
  .meta({ id: "BlockTimes" });
export type BlockTimesRecord = z.output<typeof blockTimesRecord>;

export const gasRecord = z
  .strictObject({
    data: z.array(z.strictObject({ blockNumber: integer, ...times, gasUsed: amount, gasLimit: amount })),
    indexedBlock: integer.nullable(),
  })
  .meta({ id: "GasStatistics" });
export type GasRecord = z.output<typeof gasRecord>;

export const proposersRecord = z
  .strictObject({
    windowBlocks: integer,
    data: z.array(z.strictObject({ proposer: address, blocks: integer, share: z.number().min(0).max(1) })),
    indexedBlock: integer.nullable(),
  })
  .meta({ id: "ProposerStatistics" });
export type ProposersRecord = z.output<typeof proposersRecord>;
