import type { Stage } from "../drive/arrivals.ts";
import { milliseconds, percent, rate, seconds } from "./format.ts";
import type { Report } from "./report.ts";
import type { Threshold } from "./thresholds.ts";

/** How the run was set up, as names and values for people. */
export function describeSettings({ settings, startedAt, durationMs }: Report): [string, string][] {
  return [
    ["gateway", settings.url],
    ["mix", settings.mixFile],
    ["plan", settings.stages.map(describeStage).join(", then ")],
    ["warm-up", seconds(settings.warmupMs)],
    ["arrivals", settings.arrivals],
    ["connections", String(settings.connections)],
    ["timeout", seconds(settings.timeoutMs)],
    ["seed", String(settings.seed)],
    ["started", startedAt],
    ["took", seconds(durationMs)],
  ];
}

function describeStage({ fromPerSecond, toPerSecond, durationMs }: Stage): string {
  const rates =
    fromPerSecond === toPerSecond ? rate(toPerSecond) : `${rate(fromPerSecond)} to ${rate(toPerSecond)}`;
  return `${rates} for ${seconds(durationMs)}`;
}

/** A threshold and whether it was kept, as one line. */
export function describeThreshold({ name, limit, actual, passed }: Threshold): string {
  const shown = name === "errorRate" ? percent : milliseconds;
  const subject = name === "errorRate" ? "error rate" : name;
  return `${subject} ${shown(actual)}, at most ${shown(limit)} wanted: ${passed ? "kept" : "MISSED"}`;
}
