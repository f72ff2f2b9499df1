import { Counter, Gauge, type Registry } from "prom-client";
import type { Slot } from "./supervisor.ts";

/** Registers what a primary counts. Returns the counter of processes that ended unasked. */
export function registerWorkerMetrics(
  registry: Registry,
  { slots, serving }: { slots: readonly Slot[]; serving: () => number },
) {
  const registers = [registry];
  const wanted = slots.filter(({ role }) => role === "worker").length;
  new Gauge({
    name: "tollgate_workers",
    help: "Workers of this machine: wanted ones, and those that serve",
    labelNames: ["state"],
    registers,
    collect() {
      this.set({ state: "wanted" }, wanted);
      this.set({ state: "serving" }, serving());
    },
  });
  const deaths = new Counter({
    name: "tollgate_worker_deaths_total",
    help: "Processes of this machine that ended unasked, by name; each is replaced",
    labelNames: ["worker"],
    registers,
  });
  for (const { name } of slots) deaths.inc({ worker: name }, 0);
  return deaths;
}
