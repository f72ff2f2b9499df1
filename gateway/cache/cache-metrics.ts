import { Counter, Gauge, type Registry } from "prom-client";
import type { Cache, ClassStats } from "./cache.ts";

/** Shows the cache at `/metrics`. `class` is head or forever: how long an answer holds. */
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
    help: "Calls whose answers may be cached: hit (cached), join (coalesced with a request in flight), miss",
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
    help: "Calls answered without a request to a validator: hits and joins",
    registers,
    collect() {
      this.reset();
      for (const [, { hits, joins }] of classes()) this.inc(hits + joins);
    },
  });
  gauge("tollgate_gateway_memory_entries", "Cached answers", "entries");
  gauge("tollgate_gateway_memory_bytes", "What cached answers take, in bytes", "bytes");

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
