import type { Logger } from "pino";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { bytes, hexQuantity } from "../../../lib/chain/rpc-values.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { isDevChain } from "../../follower/same-chain.ts";
import { type BlockHeader, blockHeader, ChainEvidenceError } from "./block-headers.ts";
import { beginLedgerEpoch, type LedgerCursor, readLedgerCursor } from "./ledger-cursor.ts";

export type AlignLedgerOptions = {
  rpc: Pick<RpcClient, "ask" | "askAll">;
  pool: PostgresPool;
  logger: Pick<Logger, "warn" | "info">;
  /** In lower case. */
  feeCollector: string;
  /** Whether an epoch may begin for another chain without being told to. */
  isDevelopment: boolean;
  /** Told to: once. */
  adoptChain: boolean;
};

/** Where the ledger goes on, or why it does not: until an operator decides, or the FeeCollector is there. */
export type LedgerStart =
  | { cursor: LedgerCursor; head: BlockHeader }
  | { refused: string }
  | { waitsFor: string };

type ChainView = { genesis: BlockHeader; head: BlockHeader; last: BlockHeader | undefined };

/**
 * Finds where the ledger has booked up to, and makes sure that it is this chain's: a ledger is begun, and another chain, or
 * another FeeCollector, gets an epoch of its own where that is allowed. What was booked is kept in any case.
 */
export function createAlignLedger(options: AlignLedgerOptions) {
  const { rpc, pool, logger, feeCollector, isDevelopment } = options;
  let mayAdopt = options.adoptChain;

  /** @returns undefined where another process was faster. */
  async function begin(
    before: LedgerCursor | undefined,
    { genesis, head }: ChainView,
    reason: string,
  ): Promise<LedgerStart | undefined> {
    const code = readAnswer(await rpc.ask("eth_getCode", [feeCollector, hexQuantity(head.number)]), bytes);
    if (code === "0x") {
      return {
        waitsFor: `there is no FeeCollector at ${feeCollector}: npm run contracts -- deploy puts it there`,
      };
    }
    const chain = { genesisHash: genesis.hash, feeCollector, head };
    const cursor = await beginLedgerEpoch({ pool, before, chain });
    if (cursor === undefined) return undefined;
    const level = before === undefined ? "info" : "warn";
    logger[level]({ reason, epoch: cursor.epoch, block: cursor.nextBlock }, "the ledger begins an epoch");
    mayAdopt = false;
    return { cursor, head };
  }

  return async (): Promise<LedgerStart | undefined> => {
    const cursor = await readLedgerCursor(pool);
    const view = await viewChain(rpc, cursor);
    if (cursor === undefined) return begin(undefined, view, "there is none yet");
    const reason = otherChain({ cursor, view, feeCollector });
    if (reason !== undefined) {
      return isDevelopment || mayAdopt ? begin(cursor, view, reason) : { refused: reason };
    }
    mayAdopt = false;
    return { cursor, head: view.head };
  };
}

async function viewChain(
  rpc: Pick<RpcClient, "askAll">,
  cursor: LedgerCursor | undefined,
): Promise<ChainView> {
  const lastNumber = (cursor?.nextBlock ?? 1) - 1;
  const answers = await rpc.askAll(
    ["0x0", "latest", hexQuantity(lastNumber)].map((number) => ({
      method: "eth_getBlockByNumber",
      params: [number, false],
    })),
  );
  const [genesis, head, last] = answers.map(
    (answer) => readAnswer(answer, blockHeader.nullable()) ?? undefined,
  );
  if (genesis === undefined || head === undefined) throw new ChainEvidenceError("the chain has no blocks");
  return { genesis, head, last: last?.number === lastNumber ? last : undefined };
}

/** Why the chain is not the one that is booked; undefined where it is, or where a node is merely behind. */
function otherChain({
  cursor,
  view: { genesis, head, last },
  feeCollector,
}: {
  cursor: LedgerCursor;
  view: ChainView;
  feeCollector: string;
}): string | undefined {
  if (genesis.hash !== cursor.genesisHash) {
    return `the chain's genesis block is ${genesis.hash}, that of the ledger ${cursor.genesisHash}`;
  }
  const lastNumber = cursor.nextBlock - 1;
  if (last !== undefined && last.hash !== cursor.lastHash) {
    return `block ${lastNumber} of the chain is ${last.hash}, that of the ledger ${cursor.lastHash}`;
  }
  // A dev chain can be taken back; blocks of IBFT are final, so there it is a node that is behind.
  if (last === undefined && head.number < lastNumber && isDevChain(head)) {
    return `the chain ends at block ${head.number}, the ledger at ${lastNumber}`;
  }
  if (feeCollector !== cursor.feeCollector) {
    return `the configuration's FeeCollector is ${feeCollector}, that of the ledger ${cursor.feeCollector}`;
  }
  return undefined;
}
