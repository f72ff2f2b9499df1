import type { ArrivalKind, Stage } from "../drive/arrivals.ts";
import { expectedBetween } from "../drive/arrivals.ts";
import type { EndedBy, FleetResult } from "../fleet.ts";
import type { Sends } from "../mix/settle-senders.ts";
import { type ClientStage, lengthOf } from "../plan/plan.ts";
import type { Recorded } from "../record/recorder.ts";
import type { SelfUse } from "../record/self-watch.ts";
import type { RunSetup } from "../run-setup.ts";
import { errorRate, judgeThresholds, type Threshold } from "../thresholds/judge-thresholds.ts";
import type { ThresholdRule } from "../thresholds/rule.ts";
import { findBottlenecks } from "./bottlenecks.ts";

/** How a run was set up. The key is no part of it. */
export type RunSettings = {
  url: string;
  mixFile: string;
  /** Rates over time; none where the run had clients. */
  stages: readonly Stage[];
  /** Clients over time; none where the run had a rate. */
  clients: readonly ClientStage[];
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
  version: 2;
  startedAt: string;
  /** From the first arrival to the last answer. */
  durationMs: number;
  plannedMs: number;
  /** What ended it early. */
  endedBy: EndedBy | null;
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
  /** What became of its transactions; null where it sends none, or nobody can say. */
  sends: Sends | null;
  methods: Recorded["methods"];
  tags: Recorded["tags"];
  errors: Recorded["errors"];
  series: Recorded["series"];
  self: SelfUse & { lateMs: Recorded["lateMs"]; bottlenecks: string[] };
  thresholds: Threshold[];
  passed: boolean;
};

const describeEnd: Readonly<Record<EndedBy, string>> = {
  SIGINT: "SIGINT",
  SIGTERM: "SIGTERM",
  threshold: "a missed threshold",
  "lost process": "the loss of a process",
};

/** Puts the report together: what was recorded, how it was measured, and what limits its value. */
export function createReport({
  startedAt,
  endedBy,
  setup,
  result: { recorded, figures, durationMs, self, leftOut, lost, sends },
  thresholds: rules,
  redact,
}: {
  startedAt: Date;
  endedBy: Report["endedBy"];
  setup: RunSetup;
  result: FleetResult;
  thresholds: readonly ThresholdRule[];
  /** Removes the key from texts of the other side. */
  redact: (text: string) => string;
}): Report {
  const settings = settingsOf(setup);
  const plannedMs = lengthOf(setup.plan);
  const loadMs = Math.max(1, Math.min(durationMs, plannedMs));
  const isRate = setup.plan.kind === "rate";
  const wanted = isRate ? expectedBetween(settings.stages, 0, loadMs) : recorded.arrivals;
  const perSecond = (count: number, lengthMs: number) => (count * 1000) / Math.max(1, lengthMs);
  const thresholds = judgeThresholds(rules, figures);
  const { curve, lateMs, errors, series, endedEarly } = recorded;
  return {
    format: "tollgate-load",
    version: 2,
    startedAt: startedAt.toISOString(),
    durationMs,
    plannedMs,
    endedBy,
    settings,
    notes: [
      ...(endedBy === null
        ? []
        : [`Ended early by ${describeEnd[endedBy]}: the figures are of what was measured until then.`]),
      ...lost,
      ...(sends === undefined ? [] : describeSends(sends)),
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
      planned: isRate ? Math.round(expectedBetween(settings.stages, 0, plannedMs)) : recorded.arrivals,
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
    sends: sends ?? null,
    methods: recorded.methods,
    tags: recorded.tags,
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

function settingsOf({
  url,
  mixFile,
  plan,
  warmupMs,
  arrivals,
  connections,
  timeoutMs,
  seed,
}: RunSetup): RunSettings {
  const { origin, pathname, search } = new URL(url);
  return {
    url: `${origin}${pathname}${search}`,
    mixFile,
    stages: plan.kind === "rate" ? plan.stages : [],
    clients: plan.kind === "clients" ? plan.stages : [],
    ...{ warmupMs, arrivals, connections, timeoutMs, seed },
  };
}

function describeSends({ accepted, stuck, filled }: Sends): string[] {
  return [
    ...(filled === 0
      ? []
      : [`${filled} nonces were missing in the chain below accepted transactions, and were filled.`]),
    ...(stuck === 0 ? [] : [`${stuck} of ${accepted} accepted transactions are not in the chain.`]),
  ];
}
