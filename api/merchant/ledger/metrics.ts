import { Counter, Gauge, type Registry } from "prom-client";

export type LedgerMetrics = ReturnType<typeof createLedgerMetrics>;

export function createLedgerMetrics(registry: Registry) {
  const registers = [registry];
  // All processes tell of the same rows: of several workers the largest counts.
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `api_ledger_${name}`, aggregator: "max", help, registers });
  return {
    next: gauge("next_block", "The first block whose payments are not booked"),
    behind: gauge("behind_blocks", "How many blocks of the chain are not booked"),
    boxesBehind: gauge("boxes_behind_blocks", "How many blocks ago deposit boxes were looked at"),
    boxes: gauge("boxes", "Deposit boxes that are looked at in each range"),
    refused: gauge("refused", "1 while nothing is booked: another chain, or no FeeCollector"),
    rounds: new Counter({
      name: "api_ledger_ranges_total",
      help: "Ranges of blocks that this process booked",
      registers,
    }),
    failures: new Counter({
      name: "api_ledger_failures_total",
      help: "Ranges of blocks that were tried again: the chain, PostgreSQL or what they said did not serve",
      registers,
    }),
    payments: new Counter({
      name: "api_ledger_payments_total",
      help: "Payments that this process booked, by their way: the FeeCollector (contract) or a deposit box (box)",
      labelNames: ["way"],
      registers,
    }),
    refusedEvents: new Counter({
      name: "api_ledger_refused_events_total",
      help: "Events of the FeeCollector that were not booked: of no order of ours (unknown), or not as the order says (mismatch)",
      labelNames: ["reason"],
      registers,
    }),
  };
}
