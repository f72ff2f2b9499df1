import { z } from "zod";
import { developmentFeeSettings } from "../../../../lib/fee-collector/fee-settings.ts";
import type { Teardown } from "../../../../scripts/processes/teardown.ts";
import { type OwnLedger, startOwnLedger } from "../../../../scripts/soak/merchant-crashes/own-ledger.ts";
import { createShop, forwarder, forwarderCode } from "../../../../scripts/soak/merchant-crashes/shop.ts";
import { startAnvil } from "../../../helpers/anvil.ts";
import { deployOn } from "../../../helpers/fee-collector.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { createPool } from "../../../lib/postgres/support/pool.ts";

const genesisTimestampSeconds = 1_900_000_000;

/** A dev chain of the year 2030, so that a wall clock shows, with the contracts. It mines on each transaction. */
export async function startFeeChain(t: Teardown) {
  const anvil = await startAnvil(t, { genesisTimestampSeconds });
  await deployOn(anvil.url);
  await anvil.rpc("anvil_setCode", [forwarder, forwarderCode]);
  /** A transaction's hash is answered before its block is made. */
  const mined = () =>
    waitFor("what was sent is mined", async () => {
      const { pending } = z.object({ pending: z.string() }).parse(await anvil.rpc("txpool_status"));
      return Number(pending) === 0;
    });
  const number = async () => {
    await mined();
    return Number(await anvil.rpc("eth_blockNumber"));
  };
  const time = async () =>
    Number(
      z.object({ timestamp: z.string() }).parse(await anvil.rpc("eth_getBlockByNumber", ["latest", false]))
        .timestamp,
    );
  return {
    ...anvil,
    /** Of the newest block. */
    number,
    /** Of the newest block, in Unix seconds. */
    time,
    mine: (blocks = 1) => anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`, "0x1"]),
    mined,
    /** Whether a transaction that is mined did what it should. */
    succeeded: async (hash: string) => {
      await mined();
      const receipt = z.object({ status: z.string() });
      return receipt.parse(await anvil.rpc("eth_getTransactionReceipt", [hash])).status === "0x1";
    },
    /** The next block, empty, at this time. */
    mineAt: (seconds: number) => anvil.rpc("evm_mine", [seconds]),
    /** What is sent meanwhile is in one block. */
    async inOneBlock(work: () => Promise<unknown>): Promise<void> {
      await mined();
      await anvil.rpc("evm_setAutomine", [false]);
      await work();
      await anvil.rpc("evm_mine");
      await anvil.rpc("evm_setAutomine", [true]);
    },
  };
}

export type FeeChain = Awaited<ReturnType<typeof startFeeChain>>;

/** A database of merchants over such a chain, with a ledger that has begun. */
export async function startMarket(
  t: Teardown,
  { chain, ...options }: { chain: FeeChain } & Partial<Parameters<typeof startOwnLedger>[1]>,
) {
  const postgresUrl = await createDatabase(t);
  const { pool } = createPool(t, { url: postgresUrl });
  const start = (more: Partial<Parameters<typeof startOwnLedger>[1]> = {}): OwnLedger =>
    startOwnLedger(t, { url: chain.url, postgresUrl, ...options, ...more });
  const ledger = start();
  await ledger.begun();
  const shop = createShop({
    db: pool,
    rpc: chain.rpc,
    feeCollector: developmentFeeSettings.feeCollector,
  });
  return {
    ...{ pool, postgresUrl, ledger, shop },
    /** Another one over the same database. */
    start,
    /** Waits until everything that is mined is booked by `by`. */
    settled: async (by: OwnLedger = ledger) => by.booked(await chain.number()),
    /** Rows as they are, for comparing. */
    rows: async (sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows,
  };
}
