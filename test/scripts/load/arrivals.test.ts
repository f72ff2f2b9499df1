import t from "tap";
import { createArrivals, expectedBetween, type Stage } from "../../../scripts/load/drive/arrivals.ts";
import { createRandom } from "../../../scripts/load/mix/random.ts";

function timesOf(stages: readonly Stage[], kind: "constant" | "poisson" = "constant"): number[] {
  const arrivals = createArrivals({ stages, kind, random: createRandom(11) });
  const times: number[] = [];
  for (let next = arrivals.next(); next !== undefined; next = arrivals.next()) times.push(next);
  return times;
}

const between = (times: readonly number[], fromMs: number, toMs: number) =>
  times.filter((time) => time >= fromMs && time < toMs).length;

t.test("constant arrivals are evenly spaced, and as many as rate times duration", async (t) => {
  const times = timesOf([{ fromPerSecond: 400, toPerSecond: 400, durationMs: 5_000 }]);
  t.equal(times.length, 2_000);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  t.ok(steps.every((step) => Math.abs(step - 2.5) < 1e-6));
});

t.test("a slope has the arrivals of its rising rate in each second", async (t) => {
  const stages = [{ fromPerSecond: 0, toPerSecond: 1_000, durationMs: 10_000 }];
  const times = timesOf(stages);
  t.equal(times.length, 5_000);
  for (const second of [0, 3, 9]) {
    const count = between(times, second * 1000, second * 1000 + 1000);
    t.ok(Math.abs(count - (100 * second + 50)) <= 1, `${count} in second ${second}`);
  }
  t.equal(expectedBetween(stages, 3_000, 4_000), 350);
});

t.test("a slope can go down, and steps follow each other without a gap", async (t) => {
  const times = timesOf([
    { fromPerSecond: 500, toPerSecond: 0, durationMs: 4_000 },
    { fromPerSecond: 100, toPerSecond: 100, durationMs: 1_000 },
    { fromPerSecond: 300, toPerSecond: 300, durationMs: 1_000 },
  ]);
  t.equal(between(times, 0, 4_000), 1_000);
  t.equal(between(times, 4_000, 5_000), 100);
  t.equal(between(times, 5_000, 6_000), 300);
  t.ok(
    times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0)),
    "never back",
  );
});

t.test("poisson arrivals have the rate, and steps as random as those of a Poisson process", async (t) => {
  const times = timesOf([{ fromPerSecond: 1_000, toPerSecond: 1_000, durationMs: 50_000 }], "poisson");
  // 50 000 expected with a standard deviation of 224.
  t.ok(Math.abs(times.length - 50_000) < 1_000, `${times.length} arrivals`);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  const mean = steps.reduce((sum, step) => sum + step, 0) / steps.length;
  const deviation = Math.sqrt(steps.reduce((sum, step) => sum + (step - mean) ** 2, 0) / steps.length);
  t.ok(Math.abs(deviation / mean - 1) < 0.03, `coefficient of variation ${deviation / mean}`);
  const aboveMean = steps.filter((step) => step > mean).length / steps.length;
  t.ok(Math.abs(aboveMean - Math.exp(-1)) < 0.01, `${aboveMean} of the steps are longer than the mean`);
});
