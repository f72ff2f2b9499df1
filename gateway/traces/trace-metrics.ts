import { Counter, Gauge, type Registry } from "prom-client";
import type { DeadlyCalls } from "./deadly-calls.ts";
import type { RunTraces } from "./run-traces.ts";

/** Registers the metrics of traces, which are read when they are scraped. */
export function registerTraceMetrics({
  registry,
  deadly,
  traces,
  healthyNodes,
}: {
  registry: Registry;
  deadly: Pick<DeadlyCalls, "stats">;
  traces: Pick<RunTraces, "stats">;
  /** Nodes that can run traces: trace nodes where there are any, else validators. */
  healthyNodes: () => number;
}): void {
  const registers = [registry];
  new Counter({
    name: "tollgate_gateway_deadly_calls_total",
    help: "Calls that their validator ended or went silent with, so that they are refused for a while",
    registers,
    collect() {
      this.reset();
      this.inc(deadly.stats().noted);
    },
  });
  new Counter({
    name: "tollgate_gateway_keys_struck_total",
    help: "Times that a key lost traces for a while, because its traces ended validators",
    registers,
    collect() {
      this.reset();
      this.inc(deadly.stats().struck);
    },
  });
  new Gauge({
    name: "tollgate_gateway_deadly_calls_known",
    aggregator: "max",
    help: "Calls that are refused because a validator ended with them, at any gateway",
    registers,
    collect() {
      this.set(deadly.stats().known);
    },
  });
  new Gauge({
    name: "tollgate_gateway_traces",
    help: "Traces of this process, by state: running or waiting for their turn",
    labelNames: ["state"],
    registers,
    collect() {
      const { running, waiting } = traces.stats();
      this.set({ state: "running" }, running);
      this.set({ state: "waiting" }, waiting);
    },
  });
  new Gauge({
    name: "tollgate_gateway_trace_nodes_healthy",
    aggregator: "min",
    help: "Nodes that can be asked for traces: trace nodes where they are configured, else validators",
    registers,
    collect() {
      this.set(healthyNodes());
    },
  });
}
