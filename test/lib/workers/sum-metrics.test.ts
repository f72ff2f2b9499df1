import { Counter, Gauge, Histogram, Registry } from "prom-client";
import t from "tap";
import { createMetricSum } from "../../../lib/workers/sum-metrics.ts";

/** What a process tells that has answered so many calls, as it comes over the channel. */
async function tellOf(calls: number, heap = 10): Promise<unknown> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "calls_total", help: "calls", labelNames: ["method"], registers }).inc(
    { method: "a" },
    calls,
  );
  new Gauge({ name: "heap", help: "bytes", registers }).set(heap);
  new Gauge({ name: "head", help: "number", aggregator: "max", registers }).set(heap);
  const seconds = new Histogram({ name: "seconds", help: "time", buckets: [1], registers });
  for (let call = 0; call < calls; call += 1) seconds.observe(0.5);
  return structuredClone(await registry.getMetricsAsJSON());
}

t.test("sums what all count, each metric by its own rule", async (t) => {
  const text = await createMetricSum().text([await tellOf(2, 10), await tellOf(3, 30)]);
  t.match(text, 'calls_total{method="a"} 5');
  t.match(text, "heap 40");
  t.match(text, "head 30");
  t.match(text, 'seconds_bucket{le="1"} 5');
  t.match(text, "seconds_sum 2.5");
});

t.test("no sum falls when a process ends; what it held does not stay", async (t) => {
  const sum = createMetricSum();
  await sum.keep(await tellOf(7));
  await sum.keep(await tellOf(1));
  const text = await sum.text([await tellOf(2)]);
  t.match(text, 'calls_total{method="a"} 10');
  t.match(text, 'seconds_bucket{le="+Inf"} 10');
  t.match(text, "\nheap 10\n");
  t.match(await sum.text([]), 'calls_total{method="a"} 8');
});

t.test("what is no metrics counts nothing", async (t) => {
  const sum = createMetricSum();
  await sum.keep(undefined);
  await sum.keep([{ name: 1 }]);
  t.match(await sum.text([undefined, await tellOf(2)]), 'calls_total{method="a"} 2');
});
