import { performance } from "node:perf_hooks";
import { startOwnPostgres } from "../../processes/own-postgres.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { startCrashChain } from "./crash-chain.ts";
import { type FollowerCrashFindings, runFollowerCrashes } from "./run-follower-crashes.ts";

/** Runs seeds one after the other: all share the PostgreSQL that each of them kills. */
export async function runFollowerSeeds(
  t: Teardown,
  {
    seeds,
    first,
    onFindings,
    goesOn = () => true,
  }: {
    seeds: number;
    first: number;
    onFindings: (findings: FollowerCrashFindings & { tookMs: number }) => void;
    goesOn?: () => boolean;
  },
): Promise<void> {
  const [postgres, chain] = await Promise.all([startOwnPostgres(t), startCrashChain(t)]);
  for (let seed = first; seed < first + seeds && goesOn(); seed += 1) {
    const stops: (() => unknown)[] = [];
    const startedMs = performance.now();
    try {
      const findings = await runFollowerCrashes(
        { teardown: (stop) => stops.unshift(stop) },
        { seed, postgres, chain },
      );
      onFindings({ ...findings, tookMs: performance.now() - startedMs });
    } finally {
      for (const stop of stops) await stop();
    }
  }
}
