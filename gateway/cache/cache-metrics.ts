import { Counter, Gauge, type Registry } from "prom-client";
import type { Cache, ClassStats } from "./cache.ts";

/** Shows memory at `/metrics`, read when somebody asks. `class` is head or forever: how long an answer holds. */
export function registerCacheMetrics({
  registry,
  cache,
}: {
  registry: Registry;
  cache: Pick<Cache, "stats">;
}): void {
  const registers = [registry];
  const classes = () => Object.entries(cache.stats());

  new Counter({
    name: "tollgate_gateway_memory_calls_total",
    help: "Calls whose answers may be remembered: hit (from memory), join (somebody else was asking the same), miss",
    labelNames: ["class", "source"],
    registers,
    collect() {
      this.reset();
      for (const [name, { hits, joins, misses }] of classes()) {
        for (const [source, count] of Object.entries({ hit: hits, join: joins, miss: misses })) {
          this.inc({ class: name, source }, count);
        }
      }
    },
  });
  new Counter({
    name: "tollgate_gateway_memory_saved_calls_total",
    help: "Calls answered without asking a validator: hits and joins",
    registers,
    collect() {
      this.reset();
      for (const [, { hits, joins }] of classes()) this.inc(hits + joins);
    },
  });
  gauge("tollgate_gateway_memory_entries", "Answers that are remembered", "entries");
  gauge("tollgate_gateway_memory_bytes", "What they take, in bytes", "bytes");

  function gauge(name: string, help: string, field: keyof Pick<ClassStats, "entries" | "bytes">): void {
    new Gauge({
      name,
      help,
      labelNames: ["class"],
      registers,
      collect() {
        for (const [className, stats] of classes()) this.set({ class: className }, stats[field]);
      },
    });
  }
}
