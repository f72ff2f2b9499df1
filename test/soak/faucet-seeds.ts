import { performance } from "node:perf_hooks";
import { startAnvil } from "../helpers/anvil.ts";
import type { Teardown } from "../helpers/teardown.ts";
import { type CrashFindings, runFaucetCrashes } from "./faucet-crashes.ts";

/** Each run has processes of its own, and a wallet of its own on the one chain. */
const runsAtOnce = 4;
const claimsOfARun = 50;
const blockTimeSeconds = 0.1;

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
  const anvil = await startAnvil(t, { blockTimeSeconds });
  const waiting = Array.from({ length: seeds }, (_, index) => first + index);

  async function run(): Promise<void> {
    for (let seed = waiting.shift(); seed !== undefined && goesOn(); seed = waiting.shift()) {
      const stops: (() => unknown)[] = [];
      const startedMs = performance.now();
      try {
        const findings = await runFaucetCrashes(
          { teardown: (stop) => stops.unshift(stop) },
          { seed, claims: claimsOfARun, anvil },
        );
        onFindings({ ...findings, tookMs: performance.now() - startedMs });
      } finally {
        for (const stop of stops) await stop();
      }
    }
  }

  await Promise.all(Array.from({ length: runsAtOnce }, run));
}
