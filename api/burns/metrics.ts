import { Gauge, type Registry } from "prom-client";

export function createBurnMetrics(registry: Registry) {
  const registers = [registry];
  // All processes tell of the same rows: of several workers the largest counts.
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `api_burn_${name}`, aggregator: "max", help, registers });
  return {
    differences: gauge(
      "differences",
      "Sums of burned fees that are not what the chain says: sources, and the burn sink",
    ),
    comparedBlock: gauge(
      "compared_block",
      "The block at which the sums of burned fees were last compared with the chain",
    ),
  };
}
