import { Counter, Gauge, type Registry } from "prom-client";
import type { ExplorerClient } from "./explorer-client.ts";
import type { OpenAnswers } from "./open-answers.ts";

/** Registers the metrics of the explorer behind the gateway, which are read when they are scraped. */
export function registerExplorerMetrics({
  registry,
  explorer,
  openAnswers,
}: {
  registry: Registry;
  explorer: Pick<ExplorerClient, "failures">;
  openAnswers: Pick<OpenAnswers, "count">;
}): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_gateway_explorer_open",
    help: "Answers of the explorer that are open: asked for, or not yet taken as a whole; event streams too",
    registers,
    collect() {
      this.set(openAnswers.count());
    },
  });
  new Counter({
    name: "tollgate_gateway_explorer_failures_total",
    help: "Answers of the explorer that did not come or broke off, by reason",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const [reason, times] of explorer.failures) this.inc({ reason }, times);
    },
  });
}
