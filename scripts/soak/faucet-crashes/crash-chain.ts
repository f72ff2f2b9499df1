import { setTimeout as sleep } from "node:timers/promises";
import { type OwnAnvil, startOwnAnvil } from "../../processes/own-anvil.ts";
import type { Teardown } from "../../processes/teardown.ts";

const blockEveryMs = 100;

/** A dev chain whose blocks are made here, so that it can be stalled. */
export type CrashChain = {
  anvil: OwnAnvil;
  /** No blocks are made until `recover`. */
  stall(): void;
  /** Blocks are made again, and the pool is lost, as after the recovery of a network. */
  recover(): Promise<void>;
};

export async function startCrashChain(t: Teardown): Promise<CrashChain> {
  const anvil = await startOwnAnvil(t);
  await anvil.rpc("evm_setAutomine", [false]);
  let isStalled = false;
  let isOver = false;
  async function mine(): Promise<void> {
    while (!isOver) {
      if (!isStalled) await anvil.rpc("evm_mine");
      await sleep(blockEveryMs);
    }
  }
  const mining = mine();
  t.teardown(async () => {
    isOver = true;
    await mining;
  });
  return {
    anvil,
    stall() {
      isStalled = true;
    },
    async recover() {
      await anvil.rpc("anvil_dropAllTransactions");
      isStalled = false;
    },
  };
}
