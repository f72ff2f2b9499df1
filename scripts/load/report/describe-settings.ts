import type { Stage } from "../drive/arrivals.ts";
import type { ClientStage } from "../plan/plan.ts";
import type { Threshold } from "../thresholds/judge-thresholds.ts";
import type { Unit } from "../thresholds/rule.ts";
import { count, milliseconds, percent, rate, seconds } from "./format.ts";
import type { Report } from "./report.ts";

/** How the run was set up, as names and values for people. */
export function describeSettings({ settings, startedAt, durationMs }: Report): [string, string][] {
  return [
    ["gateway", settings.url],
    ["mix", settings.mixFile],
    ["plan", describePlan(settings)],
    ["warm-up", seconds(settings.warmupMs)],
    ["arrivals", settings.arrivals],
    ["connections", String(settings.connections)],
    ["timeout", seconds(settings.timeoutMs)],
    ["seed", String(settings.seed)],
    ["started", startedAt],
    ["took", seconds(durationMs)],
  ];
}

/** `10/s to 500/s for 30 s, then 500/s for 60 s` */
export function describePlan({
  stages,
  clients,
}: {
  stages: readonly Stage[];
  clients: readonly ClientStage[];
}): string {
  return [...stages.map(describeStage), ...clients.map(describeClients)].join(", then ");
}

function describeStage({ fromPerSecond, toPerSecond, durationMs }: Stage): string {
  const rates =
    fromPerSecond === toPerSecond ? rate(toPerSecond) : `${rate(fromPerSecond)} to ${rate(toPerSecond)}`;
  return `${rates} for ${seconds(durationMs)}`;
}

function describeClients({ fromClients, toClients, durationMs }: ClientStage): string {
  const clients = fromClients === toClients ? `${toClients}` : `${fromClients} to ${toClients}`;
  return `${clients} clients for ${seconds(durationMs)}`;
}

export const showUnit: Readonly<Record<Unit, (value: number) => string>> = {
  ms: milliseconds,
  share: percent,
  count,
  perSecond: rate,
};

/** A threshold and whether it was kept, as one line. */
export function describeThreshold({ name, unit, operator, limit, actual, passed }: Threshold): string {
  const show = showUnit[unit];
  const subject = name === "errorRate" ? "error rate" : name;
  const measured = actual === null ? "not measured" : show(actual);
  return `${subject}: ${measured}, ${operator} ${show(limit)} wanted: ${passed ? "kept" : "MISSED"}`;
}
