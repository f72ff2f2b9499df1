import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startAnvil } from "../../../test/helpers/anvil.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { type CrashChain, type CrashFindings, runFaucetCrashes } from "./run-faucet-crashes.ts";

/** Each run has processes of its own, and a wallet of its own on the one chain. */
const runsAtOnce = 4;
const claimsOfARun = 50;
const blockEveryMs = 100;

/** Runs so many seeds before one fast-mining dev chain, four at a time. */
export async function runCrashSeeds(
  t: Teardown,
  {
    seeds,
    first,
    onFindings,
    goesOn = () => true,
  }: {
    seeds: number;
    first: number;
    onFindings: (findings: CrashFindings & { tookMs: number }) => void;
    goesOn?: () => boolean;
  },
): Promise<void> {
  const chain = await startChain(t);
  const waiting = Array.from({ length: seeds }, (_, index) => first + index);

  async function run(): Promise<void> {
    for (let seed = waiting.shift(); seed !== undefined && goesOn(); seed = waiting.shift()) {
      const stops: (() => unknown)[] = [];
      const startedMs = performance.now();
      try {
        const findings = await runFaucetCrashes(
          { teardown: (stop) => stops.unshift(stop) },
          { seed, claims: claimsOfARun, ...chain },
        );
        onFindings({ ...findings, tookMs: performance.now() - startedMs });
      } finally {
        for (const stop of stops) await stop();
      }
    }
  }

  await Promise.all(Array.from({ length: runsAtOnce }, run));
}

/** A dev chain whose blocks are made here, so that it can be stalled. */
async function startChain(t: Teardown): Promise<CrashChain> {
  const anvil = await startAnvil(t);
  await anvil.rpc("evm_setAutomine", [false]);
  let stalls = 0;
  let isOver = false;
  async function mine(): Promise<void> {
    while (!isOver) {
      if (stalls === 0) await anvil.rpc("evm_mine");
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
      stalls += 1;
      return () => {
        stalls -= 1;
      };
    },
  };
}
