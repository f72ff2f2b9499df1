import { performance } from "node:perf_hooks";
import type { Teardown } from "../../processes/teardown.ts";
import { type CrashFindings, runFaucetCrashes } from "./run-faucet-crashes.ts";

const claimsOfARun = 50;

/** Runs these seeds, a few at the same time: each has its own processes and its own chain. */
export async function runCrashSeeds({
  seeds,
  atOnce,
  onFindings,
  goesOn = () => true,
}: {
  seeds: readonly number[];
  atOnce: number;
  onFindings: (findings: CrashFindings & { tookMs: number }) => void;
  goesOn?: () => boolean;
}): Promise<void> {
  const waiting = [...seeds];

  async function run(): Promise<void> {
    for (let seed = waiting.shift(); seed !== undefined && goesOn(); seed = waiting.shift()) {
      const stops: (() => unknown)[] = [];
      const t: Teardown = { teardown: (stop) => stops.unshift(stop) };
      const startedMs = performance.now();
      try {
        const findings = await runFaucetCrashes(t, { seed, claims: claimsOfARun });
        onFindings({ ...findings, tookMs: performance.now() - startedMs });
      } finally {
        for (const stop of stops) await stop();
      }
    }
  }

  await Promise.all(Array.from({ length: atOnce }, run));
}
