import { Counter, Gauge, type Registry } from "prom-client";

export type FollowerMetrics = ReturnType<typeof createFollowerMetrics>;

export function createFollowerMetrics(registry: Registry) {
  const registers = [registry];
  // All processes tell of the same rows: of several workers the largest counts.
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `api_index_${name}`, aggregator: "max", help, registers });
  return {
    next: gauge("next_block", "The first block that is not in the index"),
    behind: gauge("behind_blocks", "How many blocks of the chain are not in the index"),
    leader: gauge("leader", "1 on the process that writes the index"),
    refused: gauge("refused", "1 while the index belongs to another chain and waits for --adopt-chain"),
    failures: new Counter({
      name: "api_index_failures_total",
      help: "Ranges of blocks that were tried again: the chain, PostgreSQL or what they said did not serve",
      registers,
    }),
  };
}
