import type { ArrivalKind, Stage } from "../drive/arrivals.ts";
import { expectedBetween, planMs } from "../drive/arrivals.ts";
import type { Recorded } from "../record/recorder.ts";
import type { SelfUse } from "../record/self-watch.ts";
import { findBottlenecks } from "./bottlenecks.ts";
import { errorRate, judgeThresholds, type Threshold, type ThresholdLimits } from "./thresholds.ts";

/** How a run was set up. The key is no part of it. */
export type RunSettings = {
  url: string;
  mixFile: string;
  stages: readonly Stage[];
  /** Before the plan, at its first rate, not counted. */
  warmupMs: number;
  arrivals: ArrivalKind;
  connections: number;
  timeoutMs: number;
  seed: number;
};

/**
 * What a run has shown: the shape that `--json` writes, and what the other reports are made from. Names end in their
 * units; `scripts/load/README.md` says what each means. `version` grows when a member changes its meaning or goes.
 */
export type Report = {
  format: "tollgate-load";
  version: 1;
  startedAt: string;
  /** From the first arrival to the last answer. */
  durationMs: number;
  plannedMs: number;
  /** The signal that ended it early. */
  endedBy: "SIGINT" | "SIGTERM" | null;
  settings: RunSettings;
  /** What a reader would not expect, a sentence each. */
  notes: string[];
  rates: { wantedPerSecond: number; arrivalsPerSecond: number; callsPerSecond: number };
  arrivals: { planned: number; begun: number };
  requests: number;
  calls: { total: number; failed: number; cutOff: number; errorRate: number };
  latencyMs: Recorded["latencyMs"];
  serviceMs: Recorded["serviceMs"];
  failedMs: Recorded["failedMs"];
  queuedMs: Recorded["queuedMs"];
  minedMs: Recorded["minedMs"];
  latencyCurve: Recorded["curve"];
  methods: Recorded["methods"];
  errors: Recorded["errors"];
  series: Recorded["series"];
  self: SelfUse & { lateMs: Recorded["lateMs"]; bottlenecks: string[] };
  thresholds: Threshold[];
  passed: boolean;
};

/** Puts the report together: what was recorded, how it was measured, and what limits its value. */
export function createReport({
  startedAt,
  durationMs,
  endedBy,
  settings,
  recorded,
  self,
  leftOut,
  limits,
  redact,
}: {
  startedAt: Date;
  durationMs: number;
  endedBy: Report["endedBy"];
  settings: RunSettings;
  recorded: Recorded;
  self: SelfUse;
  leftOut: readonly { item: string; placeholder: string }[];
  limits: ThresholdLimits;
  /** Removes the key from texts of the other side. */
  redact: (text: string) => string;
}): Report {
  const plannedMs = planMs(settings.stages);
  const loadMs = Math.max(1, Math.min(durationMs, plannedMs));
  const wanted = expectedBetween(settings.stages, 0, loadMs);
  const perSecond = (count: number, lengthMs: number) => (count * 1000) / Math.max(1, lengthMs);
  const thresholds = judgeThresholds(limits, recorded);
  const { curve, lateMs, errors, series, endedEarly } = recorded;
  return {
    format: "tollgate-load",
    version: 1,
    startedAt: startedAt.toISOString(),
    durationMs,
    plannedMs,
    endedBy,
    settings,
    notes: [
      ...(endedBy === null
        ? []
        : [`Ended early by ${endedBy}: the figures are of what was measured until then.`]),
      ...leftOut.map(
        ({ item, placeholder }) =>
          `"${item}" was left out: there is no $${placeholder}, because recent blocks have none.`,
      ),
      ...endedEarly.map(
        ({ item, step, count }) =>
          `"${item}" ended ${count} times at step ${step}: it failed, or an earlier result had nothing for its placeholder.`,
      ),
    ],
    rates: {
      wantedPerSecond: perSecond(wanted, loadMs),
      arrivalsPerSecond: perSecond(recorded.arrivals, loadMs),
      callsPerSecond: perSecond(recorded.calls, durationMs),
    },
    arrivals: {
      planned: Math.round(expectedBetween(settings.stages, 0, plannedMs)),
      begun: recorded.arrivals,
    },
    requests: recorded.requests,
    calls: {
      total: recorded.calls,
      failed: recorded.failed,
      cutOff: recorded.cutOff,
      errorRate: errorRate(recorded),
    },
    latencyMs: recorded.latencyMs,
    serviceMs: recorded.serviceMs,
    failedMs: recorded.failedMs,
    queuedMs: recorded.queuedMs,
    minedMs: recorded.minedMs,
    latencyCurve: curve,
    methods: recorded.methods,
    errors: errors.map((row) => ({
      ...row,
      code: redact(row.code),
      example: { ...row.example, message: redact(row.example.message) },
    })),
    series,
    self: {
      ...self,
      lateMs,
      bottlenecks: findBottlenecks({ recorded, self, connections: settings.connections }),
    },
    thresholds,
    passed: thresholds.every(({ passed }) => passed),
  };
}
