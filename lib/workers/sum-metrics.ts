import { AggregatorRegistry, type Registry } from "prom-client";
import { z } from "zod";

const metricsSchema = z.array(
  z.looseObject({
    name: z.string(),
    type: z.string(),
    values: z.array(z.looseObject({ value: z.number() })),
  }),
);

/** What `Registry.getMetricsAsJSON()` of a process says. */
type Metrics = z.output<typeof metricsSchema>;

/**
 * The metrics of several processes as those of one: by the aggregator of each metric, sums unless it says otherwise. What
 * processes that have ended counted stays in the sums: to Prometheus a counter that falls has begun anew, and its rate would
 * show all that was ever counted once more.
 */
export function createMetricSum() {
  let ended: Metrics = [];

  return {
    /** A process has ended; `metrics` is what it told last. */
    async keep(metrics: unknown): Promise<void> {
      const counted = readMetrics(metrics).filter(({ type }) => type === "counter" || type === "histogram");
      ended = readMetrics(await sum([ended, counted]).getMetricsAsJSON());
    },
    /** As Prometheus reads it. */
    text: (metrics: readonly unknown[]): Promise<string> =>
      sum([...metrics.map(readMetrics), ended]).metrics(),
  };
}

function readMetrics(metrics: unknown): Metrics {
  return metricsSchema.safeParse(metrics).data ?? [];
}

function sum(all: readonly Metrics[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
