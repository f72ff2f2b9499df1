import { Counter, Gauge, type Registry } from "prom-client";
import { type BodyBudget, bodyScopes } from "./body-budget.ts";
import { type ConnectionSlots, slotLosses } from "./connection-slots.ts";

/** Shows connections and bodies that are being read at `/metrics`. The values are read when somebody asks. */
export function registerIntakeMetrics({
  registry,
  slots,
  budget,
}: {
  registry: Registry;
  slots: Pick<ConnectionSlots, "count" | "lost">;
  budget: Pick<BodyBudget, "reading" | "heldBytes" | "dropped">;
}): void {
  const registers = [registry];
  const gauges = [
    ["connections", "Connections that are open, WebSockets among them", slots.count],
    ["bodies_reading", "Bodies of requests that are being read", budget.reading],
    [
      "body_bytes_held",
      "What is in memory of bodies that are being read or wait for their key, in bytes",
      budget.heldBytes,
    ],
  ] as const;
  for (const [name, help, read] of gauges) {
    new Gauge({
      name: `tollgate_gateway_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  new Counter({
    name: "tollgate_gateway_connections_lost_total",
    help: "Connections closed to make room, or not taken for want of it, by whose bound was reached: address, process",
    labelNames: ["bound"],
    registers,
    collect() {
      this.reset();
      for (const bound of slotLosses) this.inc({ bound }, slots.lost().get(bound) ?? 0);
    },
  });
  new Counter({
    name: "tollgate_gateway_bodies_dropped_total",
    help: "Bodies dropped while they were read since there were too many, by whose bound was reached: key, address, process",
    labelNames: ["bound"],
    registers,
    collect() {
      this.reset();
      for (const bound of bodyScopes) this.inc({ bound }, budget.dropped().get(bound) ?? 0);
    },
  });
}
