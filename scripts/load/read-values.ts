import type { Read } from "../../lib/cli/read-program.ts";
import { parseDuration } from "../../lib/config/duration.ts";
import type { Stage } from "./drive/arrivals.ts";
import { ratePerSecondMax } from "./plan/plan.ts";

const durationMsMax = 24 * 3_600_000;
const stagesMax = 100;

/** `250ms`, `1.5s`, `5m`, `2h`: longer than nothing, at most a day. */
export function readDuration(text: string): Read<number> {
  const lengthMs = parseDuration(text, ["ms", "s", "m", "h"]) ?? 0;
  if (lengthMs > 0 && lengthMs <= durationMsMax) return { value: lengthMs };
  return { expected: "a length of time such as 50ms, 30s or 5m (at most 24h)" };
}

/** Scripts a second; fractions are fine. */
export function readRate(text: string): Read<number> {
  const rate = readNumber(text);
  if (rate > 0 && rate <= ratePerSecondMax) return { value: rate };
  return { expected: `a number a second, above 0 and at most ${ratePerSecondMax}` };
}

/** `0.1%` as 0.001. */
export function readShare(text: string): Read<number> {
  const percent = readNumber(text.endsWith("%") ? text.slice(0, -1) : "");
  if (percent >= 0 && percent <= 100) return { value: percent / 100 };
  return { expected: "a percentage such as 0.1%" };
}

/** `10..500/30s` for a slope, `200/10s` for a step, several with commas between them. */
export function readRamp(text: string): Read<Stage[]> {
  const expected = {
    expected:
      "stages such as 10..500/30s (a slope) or 100/10s,200/10s (steps), each a rate and a length of time",
  };
  const stages: Stage[] = [];
  for (const part of text.split(",")) {
    const match = /^([\d.]+?)(?:\.\.([\d.]+))?\/(.+)$/.exec(part.trim());
    const from = readNumber(match?.[1] ?? "");
    const to = match?.[2] === undefined ? from : readNumber(match[2]);
    const duration = readDuration(match?.[3] ?? "");
    const isRate = (rate: number) => rate >= 0 && rate <= ratePerSecondMax;
    if (!isRate(from) || !isRate(to) || from + to === 0 || !("value" in duration)) return expected;
    stages.push({ fromPerSecond: from, toPerSecond: to, durationMs: duration.value });
  }
  return stages.length <= stagesMax ? { value: stages } : { expected: `at most ${stagesMax} stages` };
}

function readNumber(text: string): number {
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
}
