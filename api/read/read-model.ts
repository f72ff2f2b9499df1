import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { blockRecordOf } from "../chain/block-record.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { KnownContracts } from "../chain/known-contracts.ts";
import type { LatestBlock } from "../chain/latest-block.ts";
import { logRecordOf } from "../chain/transaction-record.ts";
import { createCallContract } from "../contract-calls/call-contract.ts";
import type { BlockRecord, ConsensusRecord } from "../records/block.ts";
import type { LogRecord, TransactionRecord } from "../records/transaction.ts";
import { readBurns } from "./burns.ts";
import { createChainHead } from "./chain-head.ts";
import { readConsensus } from "./consensus.ts";
import { type FoundLogs, findLogs, type LogsAsked } from "./find-logs.ts";
import { readAccount, readNetworkContracts } from "./read-account.ts";
import { createReadChain } from "./read-chain.ts";
import { createKnownReverts, readTransaction } from "./read-transaction.ts";
import type { createValidatorHeads } from "./validator-heads.ts";
import { createValidators } from "./validators.ts";

export type ReadModel = ReturnType<typeof createReadModel>;

/**
 * What the public API knows, for REST, GraphQL and pages alike. Single records come from the chain and are right at
 * once; lists come from the index and say up to which block they are complete.
 */
export function createReadModel({
  reader,
  looks = reader,
  newest,
  db,
  contracts,
  names,
  validatorHeads = async () => [],
  fees,
  settings,
  now = Date.now,
}: {
  reader: ChainReader;
  /** For what a contract decides the size of; it gives up early. */
  looks?: ChainReader;
  newest: Pick<LatestBlock, "block">;
  /** The index. */
  db: Queryable;
  contracts: KnownContracts;
  /** Names of validators and other accounts, by address with its checksum. */
  names: Readonly<Record<string, string>>;
  /** How far the validators are that can be asked themselves. */
  validatorHeads?: ReturnType<typeof createValidatorHeads>;
  fees?: FeeSettings | undefined;
  settings: { readonly blockTimeSeconds: number; readonly stalledAfterMs: number };
  now?: () => number;
}) {
  const nameOf = (address: string): string | null => names[address] ?? contracts.nameOf(address);
  const head = createChainHead({ reader, newest });
  const reverts = createKnownReverts();
  const sources = { reader, head, db };

  return {
    db,
    contracts,
    names,
    nameOf,
    validatorHeads,
    ...head,
    ...createValidators({ head, db, nameOf }),

    chain: createReadChain({ ...sources, settings, now }),

    async latestBlock(): Promise<BlockRecord> {
      return blockRecordOf(await head.latest());
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

    /** A contract's code at the newest block: 0x where there is none. */
    async code(address: string): Promise<string> {
      const { number } = await head.latest();
      return reader.code(address, number);
    },

    callContract: createCallContract({ reader: looks }),
    contractLogs: (asked: LogsAsked): Promise<FoundLogs> => findLogs({ ...asked, reader: looks, contracts }),

    account: (address: string) => readAccount({ ...sources, nameOf }, address),
    networkContracts: () => readNetworkContracts({ ...sources, contracts }),
    burns: () => readBurns({ db, reader, feeCollector: fees?.feeCollector }),
  };
}
