import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { developmentOwner } from "../../../lib/fee-collector/development-keys.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import { network } from "../../../lib/network.ts";
import { deployContracts } from "../../contracts/deploy-contracts.ts";
import { startOwnAnvil } from "../../processes/own-anvil.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { until } from "../follower-crashes/until.ts";
import { forwarder, forwarderCode } from "./shop.ts";

export type CrashChain = Awaited<ReturnType<typeof startCrashChain>>;

const blockEveryMs = 200;
const payer = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";

/** A dev chain with the fee contracts, that mines on each transaction and now and then besides. */
export async function startCrashChain(t: Teardown) {
  const anvil = await startOwnAnvil(t);
  const client = createRpcClient({ url: anvil.url, timeoutMs: 10_000 });
  await deployContracts({
    rpc: client,
    chainId: network.chainId,
    settings: developmentFeeSettings,
    ownerKey: async () => developmentOwner.privateKey,
  });
  await client.stop();
  await anvil.rpc("anvil_setCode", [forwarder, forwarderCode]);
  let isOver = false;
  async function mine(): Promise<void> {
    while (!isOver) {
      await anvil.rpc("evm_mine");
      await sleep(blockEveryMs);
    }
  }
  const mining = mine();
  async function stopMining(): Promise<void> {
    isOver = true;
    await mining;
  }
  t.teardown(stopMining);

  const mined = (hash: unknown) =>
    until(`${hash} is mined`, async () => (await anvil.rpc("eth_getTransactionReceipt", [hash])) !== null);
  let turn: Promise<unknown> = Promise.resolve();
  /** One after the other: two at once may get the same nonce. */
  async function sendMined(params: readonly unknown[]): Promise<unknown> {
    const sent = turn.then(() => anvil.rpc("eth_sendTransaction", params));
    turn = sent.catch(() => {});
    const hash = await sent;
    await mined(hash);
    return hash;
  }
  const block = z.object({ timestamp: z.string() });
  return {
    anvil,
    /** From now on a block comes with each transaction only. */
    stopMining,
    height: async () => Number(await anvil.rpc("eth_blockNumber")),
    now: async () =>
      Number(block.parse(await anvil.rpc("eth_getBlockByNumber", ["latest", false])).timestamp),
    async passTime(seconds: number): Promise<void> {
      await anvil.rpc("evm_increaseTime", [seconds]);
      await anvil.rpc("evm_mine");
    },
    /** Like `anvil.rpc`; a transaction is mined when it answers. */
    rpc: (method: string, params: readonly unknown[] = []): Promise<unknown> =>
      method === "eth_sendTransaction" ? sendMined(params) : anvil.rpc(method, params),
    async send(transaction: object): Promise<void> {
      await sendMined([{ from: payer, gas: "0x7a120", ...transaction }]);
    },
  };
}
