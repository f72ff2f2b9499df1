import { Counter, Gauge, type Registry } from "prom-client";
import type { KeyCache } from "./key-cache.ts";

/** The label's values. Alert rules name them. */
const losses = { emptied: "emptied", begunAnew: "begun_anew", older: "older", neverAny: "none" } as const;

/** Shows whether keys are missing and what look-ups come to. They are read when somebody asks. */
export function registerKeyMetrics({
  registry,
  keys,
}: {
  registry: Registry;
  keys: Pick<KeyCache, "loss" | "stats">;
}): void {
  new Gauge({
    name: "tollgate_gateway_keys_lost",
    aggregator: "max",
    help: "1 while API keys are missing in Redis, by how they are; none: production has never had any",
    labelNames: ["loss"],
    registers: [registry],
    collect() {
      const now = keys.loss();
      for (const loss of Object.values(losses)) {
        this.set({ loss }, now !== undefined && losses[now] === loss ? 1 : 0);
      }
    },
  });
  new Counter({
    name: "tollgate_gateway_key_look_ups_total",
    help: "Look-ups of keys that were not in memory: found, unknown and failed asked Redis; remembered as unknown, bounded and refused (strange keys beyond the bounds) did not",
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(keys.stats())) this.inc({ outcome }, count);
    },
  });
}
