import t, { type Test } from "tap";
import { createRandom } from "../../../scripts/load/mix/random.ts";
import { loadReport, writeMix } from "./load-rig.ts";
import { answerAll, startStubGateway } from "./stub-gateway.ts";
import { runVirtually } from "./virtual-run.ts";

const steady = (perSecond: number, durationMs: number) => [
  { fromPerSecond: perSecond, toPerSecond: perSecond, durationMs },
];
const readMix = "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity }]\n";

function isWithin(t: Test, actual: number, expected: number, share: number, what: string): void {
  t.ok(
    Math.abs(actual - expected) <= expected * share,
    `${what}: ${actual} is within ${share} of ${expected}`,
  );
}

function isBetween(t: Test, actual: number, low: number, high: number, what: string): void {
  t.ok(actual >= low && actual <= high, `${what}: ${actual} is between ${low} and ${high}`);
}

/** The value below which this share of the values lies, by the definition that HDR histograms have. */
function percentileOf(values: readonly number[], percentile: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.round((percentile / 100) * sorted.length) - 1] ?? 0;
}

t.test("percentiles of known latencies are right within 0.2 %", async (t) => {
  const random = createRandom(7);
  // From fractions of a millisecond to seconds, with a long tail.
  const latencies = Array.from({ length: 10_000 }, () => 0.3 - 40 * Math.log(1 - random()));
  const recorded = await runVirtually({
    stages: steady(1_000, 10_000),
    answerAfterMs: (_sentAtMs, index) => latencies[index] ?? 0,
  });
  t.equal(recorded.latencyMs.count, 10_000);
  const { p50, p90, p99, p999, max } = recorded.latencyMs;
  for (const [name, percentile, actual] of [
    ["p50", 50, p50],
    ["p90", 90, p90],
    ["p99", 99, p99],
    ["p99.9", 99.9, p999],
    ["max", 100, max],
  ] as const) {
    isWithin(t, actual, percentileOf(latencies, percentile), 0.002, name);
  }
  isWithin(
    t,
    recorded.latencyMs.mean,
    latencies.reduce((sum, value) => sum + value, 0) / 10_000,
    0.002,
    "mean",
  );
});

t.test("a stall of one second shows in p99 as it must where arrivals go on", async (t) => {
  // 500 of 10 000 arrivals fall into the stall and wait between 0 and 1000 ms for its end; so 1 % wait 800 ms or more.
  const stalled = { fromMs: 5_000, toMs: 6_000 };
  const recorded = await runVirtually({
    stages: steady(500, 20_000),
    connections: 64,
    answerAfterMs: (sentAtMs) =>
      sentAtMs >= stalled.fromMs && sentAtMs < stalled.toMs ? stalled.toMs - sentAtMs : 1,
  });
  isWithin(t, recorded.latencyMs.p99, 800, 0.02, "p99");
  isWithin(t, recorded.latencyMs.max, 1_000, 0.02, "max");
  isWithin(t, recorded.latencyMs.p90, 1, 0.02, "p90");
  isWithin(
    t,
    recorded.serviceMs.p99,
    1,
    0.02,
    "p99 of the service time, which a closed loop would have told",
  );
  const slow = recorded.series.filter(({ p99 }) => p99 > 100).map(({ toMs }) => toMs);
  t.strictSame(slow, [7_000], "the plot shows it in the second in which the answers came");
});

t.test("what could not be sent in time is counted, with the timeout as its latency", async (t) => {
  // Two connections and 100 ms an answer: 20 a second can be sent, 100 are due.
  const recorded = await runVirtually({
    stages: steady(100, 10_000),
    connections: 2,
    timeoutMs: 1_000,
    answerAfterMs: () => 100,
  });
  const [row] = recorded.errors;
  t.match(row, { kind: "not sent", code: "no free connection" });
  t.equal(recorded.arrivals, 1_000);
  t.equal(
    recorded.requests + (row?.calls ?? 0),
    1_000,
    "each arrival was either sent or counted as not sent",
  );
  t.equal(recorded.latencyMs.count, 1_000);
  isWithin(t, recorded.latencyMs.p50, 1_000, 0.06, "p50");
});

t.test("an arrival above the bound of what may wait is counted as not sent", async (t) => {
  const recorded = await runVirtually({
    stages: steady(100, 1_000),
    scriptsRunningMax: 10,
    answerAfterMs: () => 5_000,
  });
  t.match(recorded.errors, [{ kind: "not sent", code: "too many waiting", calls: 90 }]);
  t.equal(recorded.latencyMs.p50, 10_002.431, "the timeout of 10 s, as precise as the histogram is");
});

t.test("a timeout counts with the time until it was given up", async (t) => {
  const recorded = await runVirtually({
    ...{
      stages: steady(100, 1_000),
      timeoutMs: 500,
      answerAfterMs: (_at, index) => (index < 50 ? 10 : 9_000),
    },
  });
  t.match(recorded.errors, [{ kind: "timeout", calls: 50 }]);
  isWithin(t, recorded.latencyMs.p99, 500, 0.002, "p99");
});

t.test("what is stopped counts what was measured, and what was cut off apart from errors", async (t) => {
  const recorded = await runVirtually({
    stages: steady(100, 10_000),
    connections: 1,
    answerAfterMs: () => 100,
    stopAtMs: 1_005,
  });
  t.equal(recorded.arrivals, 101);
  t.equal(recorded.calls, 11);
  t.equal(recorded.cutOff, 90);
  t.strictSame(recorded.errors, []);
});

t.test("over real sockets percentiles are those of the server", async (t) => {
  const random = createRandom(3);
  const served: number[] = [];
  const stub = await startStubGateway(t, async (calls, exchange) => {
    const beganMs = performance.now();
    // The server knows how long each of its answers took: the report has to agree.
    await new Promise((resolve) => setTimeout(resolve, 100 + 200 * random()));
    served.push(performance.now() - beganMs);
    return answerAll(calls, exchange);
  });
  const { report } = await loadReport([
    ...["--url", stub.url, "--mix", writeMix(t, readMix), "--rate", "200", "--duration", "3s"],
    ...["--connections", "128", "--warmup", "300ms"],
  ]);
  const measured = served.slice(-600);
  t.strictSame(report.errors, []);
  t.equal(report.latencyMs.count, 600);
  // The stub says how long it really took, so only our own way counts: a few tenths of a millisecond of 200. What a busy
  // machine takes from both of us is told by the tool itself, and is allowed on top.
  const { latencyMs, serviceMs, self, queuedMs } = report;
  const lateMs = self.lateMs.p99;
  for (const [name, percentile] of [
    ["p50", 50],
    ["p90", 90],
    ["p99", 99],
  ] as const) {
    const expected = percentileOf(measured, percentile);
    isBetween(t, serviceMs[name], expected * 0.98, expected * 1.02 + lateMs, `${name} of the service time`);
    isBetween(t, latencyMs[name], expected * 0.98, expected * 1.02 + 2 * lateMs + queuedMs.p99, name);
  }
});

t.test("over real sockets a stall of one second shows in p99, and not in the service time", async (t) => {
  let firstAt: number | undefined;
  const stub = await startStubGateway(t, async (calls, exchange) => {
    firstAt ??= performance.now();
    const elapsedMs = performance.now() - firstAt;
    // Whatever comes in its second second is answered at the end of it.
    if (elapsedMs >= 1_000 && elapsedMs < 2_000) {
      await new Promise((resolve) => setTimeout(resolve, 2_000 - elapsedMs));
    }
    return answerAll(calls, exchange);
  });
  const { report } = await loadReport([
    ...["--url", stub.url, "--mix", writeMix(t, readMix), "--rate", "200", "--duration", "4s"],
    ...["--connections", "4"],
  ]);
  // 200 of 800 arrivals wait for its end: 1 % wait for 960 ms or more.
  t.equal(report.latencyMs.count, 800);
  // A busy machine adds what the tool tells as its own lateness.
  const lateMs = report.self.lateMs.max;
  isBetween(t, report.latencyMs.p99, 940, 1_100 + 2 * lateMs, "p99");
  isBetween(t, report.latencyMs.p50, 0, 100 + 2 * lateMs, "p50");
  isBetween(t, report.serviceMs.p99, 0, 300 + 2 * lateMs, "p99 of the service time");
  t.match(report.self.bottlenecks.join(), /waited for one of the 4 connections/);
});
