import { performance } from "node:perf_hooks";
import { startDurableRedis } from "../../processes/durable-redis.ts";
import { startOwnPostgres } from "../../processes/own-postgres.ts";
import type { Teardown } from "../../processes/teardown.ts";
import type { PlantedFault } from "./plant-fault.ts";
import { type MerchantCrashFindings, runMerchantCrashes } from "./run-merchant-crashes.ts";

/** Runs seeds one after the other: all share the PostgreSQL and the Redis that each of them kills. */
export async function runMerchantSeeds(
  t: Teardown,
  {
    seeds,
    plant = "",
    onFindings,
    goesOn = () => true,
  }: {
    seeds: readonly number[];
    /** A fault that has to be found. */
    plant?: PlantedFault | "";
    onFindings: (findings: MerchantCrashFindings & { tookMs: number }) => void;
    goesOn?: () => boolean;
  },
): Promise<void> {
  const [postgres, redis] = await Promise.all([startOwnPostgres(t), startDurableRedis(t)]);
  for (const seed of seeds) {
    if (!goesOn()) return;
    const stops: (() => unknown)[] = [];
    const startedMs = performance.now();
    try {
      const findings = await runMerchantCrashes(
        { teardown: (stop) => stops.unshift(stop) },
        { seed, postgres, redis, plant },
      );
      onFindings({ ...findings, tookMs: performance.now() - startedMs });
    } finally {
      for (const stop of stops) await stop();
    }
  }
}
