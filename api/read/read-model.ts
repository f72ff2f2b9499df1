import { keccak256 } from "ethers/crypto";
import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import { decodeExtraData } from "../../lib/ibft/extra-data.ts";
import { quorumOf } from "../../lib/ibft/quorum.ts";
import { network } from "../../lib/network.ts";
import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { blockRecordOf } from "../chain/block-record.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { KnownContracts } from "../chain/known-contracts.ts";
import type { LatestBlock } from "../chain/latest-block.ts";
import type { BlockWithHeader } from "../chain/rpc-records.ts";
import { logRecordOf } from "../chain/transaction-record.ts";
import type {
  BlockRecord,
  ConsensusRecord,
  RankingRecord,
  ValidatorRecord,
  ValidatorsRecord,
} from "../records/block.ts";
import type { ChainRecord, ContractsRecord } from "../records/chain.ts";
import type { AccountRecord, LogRecord, TransactionRecord } from "../records/transaction.ts";
import { timesOf } from "../records/values.ts";
import { readAccountFacts } from "./account-facts.ts";
import { readBurns } from "./burns.ts";
import { readConsensus } from "./consensus.ts";
import { type IndexState, readIndexState } from "./page.ts";
import { createKnownReverts, readTransaction } from "./read-transaction.ts";
import { readBlockTimes } from "./statistics.ts";
import { countValidators, rankValidators } from "./validator-counts.ts";

export type ReadModel = ReturnType<typeof createReadModel>;

/** Who seals a chain, as its newest block says. */
type Consensus = { kind: ChainRecord["consensus"]; validators: readonly string[]; quorum: number };

const noFacts = { createdBy: null, firstSeenBlock: null };
const averageOverBlocks = 100;
const developmentNote = "This is a development chain: nobody validates it, so there is nothing to rank";

/**
 * What the public API knows, for REST, GraphQL and pages alike. Single records come from the chain and are right at
 * once; lists come from the index and say up to which block they are complete.
 */
export function createReadModel({
  reader,
  newest,
  db,
  contracts,
  names,
  blockTimeSeconds,
  stalledAfterMs,
  now = Date.now,
}: {
  reader: ChainReader;
  newest: Pick<LatestBlock, "block">;
  /** The index. */
  db: Queryable;
  contracts: KnownContracts;
  /** Names of validators and other accounts, by address with its checksum. */
  names: Readonly<Record<string, string>>;
  blockTimeSeconds: number;
  stalledAfterMs: number;
  now?: () => number;
}) {
  const nameOf = (address: string): string | null => names[address] ?? contracts.nameOf(address);
  const reverts = createKnownReverts();
  let genesis: string | undefined;
  let lastIndex: Pick<IndexState, "epoch" | "indexedBlock"> = { epoch: 0, indexedBlock: null };

  async function latest(): Promise<BlockWithHeader> {
    const known = newest.block();
    if (known !== undefined) return known;
    const block = await reader.block("latest");
    if (block === undefined) throw new ChainUnavailableError("the chain has no latest block");
    return block;
  }

  /** Whether a block's number and content stay together for ever: never on a chain that may be reset. */
  async function consensus(): Promise<Consensus> {
    return consensusOf(await latest());
  }

  async function genesisHash(): Promise<string> {
    // A development chain may be reset while we run.
    if (genesis !== undefined && (await consensus()).kind !== "dev") return genesis;
    genesis = (await reader.block(0))?.hash;
    return genesis ?? (await latest()).hash;
  }

  /** Where the index ended when it last said so: while it is away, the chain's epoch does not go back to 0. */
  async function indexState(): Promise<Pick<IndexState, "epoch" | "indexedBlock">> {
    lastIndex = await whileAway(readIndexState(db), lastIndex);
    return lastIndex;
  }

  return {
    db,
    contracts,
    names,
    nameOf,
    latest,
    consensus,

    async chain(): Promise<ChainRecord> {
      const block = await latest();
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
        blockTimeSeconds,
        averageBlockTimeSeconds: times,
        validatorCount: validators.length,
        quorum,
        stalled: now() - block.timestamp * 1000 > stalledAfterMs,
        gasPrice: gasPrice.toString(),
        indexedBlock: index.indexedBlock,
      };
    },

    async latestBlock(): Promise<BlockRecord> {
      return blockRecordOf(await latest());
    },

    async block(number: number): Promise<BlockRecord | undefined> {
      const block = await reader.block(number);
      return block === undefined ? undefined : blockRecordOf(block);
    },

    async blockByHash(hash: string): Promise<BlockRecord | undefined> {
      const block = await reader.blockByHash(hash);
      return block === undefined ? undefined : blockRecordOf(block);
    },

    async blockConsensus(number: number): Promise<ConsensusRecord | undefined> {
      const block = await reader.block(number);
      return block === undefined ? undefined : readConsensus(db, block);
    },

    transaction: (hash: string): Promise<TransactionRecord | undefined> =>
      readTransaction({ reader, db, contracts, reverts, hash }),

    async transactionLogs(hash: string): Promise<LogRecord[] | undefined> {
      const found = await reader.transaction(hash);
      return found === undefined
        ? undefined
        : (found.receipt?.logs ?? []).map((log) => logRecordOf(log, contracts));
    },

    async account(address: string): Promise<AccountRecord> {
      const { number } = await latest();
      const [{ balance, nonce, code }, facts] = await Promise.all([
        reader.account(address, number),
        whileAway(readAccountFacts(db, address), noFacts),
      ]);
      const codeBytes = (code.length - 2) / 2;
      return {
        address,
        balance: balance.toString(),
        // The platform token is the chain's own.
        tokenBalance: balance.toString(),
        transactionCount: nonce,
        isContract: codeBytes > 0,
        codeHash: codeBytes === 0 ? null : keccak256(code),
        codeBytes,
        name: nameOf(address),
        ...facts,
        blockNumber: number,
      };
    },

    async validators(): Promise<ValidatorsRecord> {
      const { kind, validators } = await consensus();
      const counts = await countValidators(db, { active: validators, nameOf });
      return {
        data: kind === "dev" ? [] : counts.validators,
        note: kind === "dev" ? developmentNote : null,
      };
    },

    async validator(address: string): Promise<ValidatorRecord | undefined> {
      const { validators } = await consensus();
      const counts = await countValidators(db, { active: validators, nameOf });
      return counts.validators.find((validator) => validator.address === address);
    },

    async ranking(): Promise<RankingRecord> {
      const { kind, validators } = await consensus();
      const counts = await countValidators(db, { active: validators, nameOf });
      const ranking = rankValidators(counts);
      return kind === "dev"
        ? { ...ranking, fromBlock: null, toBlock: null, data: [], note: developmentNote }
        : { ...ranking, note: null };
    },

    async networkContracts(): Promise<ContractsRecord> {
      const { number } = await latest();
      const data = await Promise.all(
        contracts.all.map(async ({ name, address, deployedAtBlock }) => {
          const [{ code }, facts] = await Promise.all([
            reader.account(address, number),
            whileAway(readAccountFacts(db, address), noFacts),
          ]);
          return {
            name,
            address: checksumAddress(address),
            deployedAtBlock: facts.createdBy?.blockNumber ?? deployedAtBlock,
            deployTransaction: facts.createdBy?.transactionHash ?? null,
            codeHash: keccak256(code),
            abiUrl: `/api/v1/network/contracts/${encodeURIComponent(name)}/abi.json`,
          };
        }),
      );
      return { chainId: network.chainId, data };
    },

    burns: () => readBurns(db),
  };
}

/** Who seals a block's chain: what its `extraData` says, or nobody on a development chain. */
export function consensusOf(block: Pick<BlockWithHeader, "extraData">): Consensus {
  const decoded = decodeExtraData(block.extraData);
  if (!("extraData" in decoded)) return { kind: "dev", validators: [], quorum: 0 };
  const validators = decoded.extraData.validators.map((address) => checksumAddress(address));
  return { kind: decoded.extraData.consensus, validators, quorum: quorumOf(validators.length) };
}

/** What the chain says goes on while the index is away. */
async function whileAway<Found>(reading: Promise<Found>, instead: Found): Promise<Found> {
  try {
    return await reading;
  } catch (error) {
    if (isPostgresFailure(error)) return instead;
    throw error;
  }
}

async function averageBlockTime(db: Queryable): Promise<number | null> {
  const { data } = await whileAway(readBlockTimes(db, averageOverBlocks), { data: [], indexedBlock: null });
  if (data.length === 0) return null;
  return data.reduce((sum, { seconds }) => sum + seconds, 0) / data.length;
}
