import type { Fault, LoadRequest } from "../request.ts";
import { createCallCounter } from "./call-counter.ts";
import { createErrorTable, type ErrorRow } from "./error-table.ts";
import type { LatencySummary } from "./latencies.ts";
import {
  createEarlyEnds,
  createMethods,
  createRunLatencies,
  type EarlyEnd,
  type MethodRow,
} from "./run-tables.ts";
import { createSeries, type Slice } from "./series.ts";

export type NotSent = {
  label: string;
  calls: number;
  why: "no free connection" | "no free sender" | "too many waiting";
  /** Since the intended time. */
  latencyMs: number;
};

export type Recorded = {
  /** Scripts that have begun. */
  arrivals: number;
  /** HTTP requests that have ended, with whatever answer. */
  requests: number;
  /** Calls that have ended, not sent ones among them. */
  calls: number;
  failed: number;
  /** Calls that were given up unanswered because the run was ended early. */
  cutOff: number;
  /** From the intended time to the answer. */
  latencyMs: LatencySummary;
  /** From sending to the answer. */
  serviceMs: LatencySummary;
  /** Refusals and wrong answers, from the intended time. */
  failedMs: LatencySummary;
  /** How long requests waited for a free connection. */
  queuedMs: LatencySummary;
  /** How late this program began what was due. */
  lateMs: LatencySummary;
  /** From the intended time of a send to its receipt, for those that wait for it. */
  minedMs: LatencySummary;
  curve: { percentile: number; latencyMs: number }[];
  methods: MethodRow[];
  errors: ErrorRow[];
  series: readonly Slice[];
  /** Scripts that ended before their last step, and at which one. */
  endedEarly: EarlyEnd[];
};

export type Recorder = ReturnType<typeof createRecorder>;

const liveSliceMs = 1_000;
/** Points of the plots. More could not be distinguished. */
export const slicesMax = 600;

/**
 * Where everything that happens in a run is counted.
 *
 * Percentiles are of requests that were answered rightly (a batch: at least in part), and of those that were not answered
 * or not sent in time, with the time until they were given up. A refusal or a wrong answer is counted as an error and
 * in a histogram of its own: a fast refusal would flatter the percentiles.
 */
export function createRecorder(options: {
  now: () => number;
  timeoutMs: number;
  /** The length of a point of the plots. */
  sliceMs: number;
  /** How many requests are in flight and how many wait, for the plots. */
  waiting: () => { inFlight: number; queued: number };
}) {
  const { now, timeoutMs, sliceMs, waiting } = options;
  const { latency, service, failure, queued, late, mined } = createRunLatencies();
  const methods = createMethods();
  const errors = createErrorTable();
  const series = createSeries({ sliceMs, slicesMax, waiting });
  const live = createSeries({ sliceMs: liveSliceMs, slicesMax: 1, waiting });
  const bothSeries = [series, live];
  const endedEarly = createEarlyEnds();
  let beganMs = 0;
  const totals = { arrivals: 0, requests: 0, calls: 0, cutOff: 0 };

  const count = createCallCounter({ totals, methods, errors, series: bothSeries, latency, failure });

  return {
    began(nowMs: number): void {
      beganMs = nowMs;
    },
    arrival(lateMs: number): void {
      totals.arrivals += 1;
      late.record(lateMs);
      for (const each of bothSeries) each.arrival(now() - beganMs);
    },
    sent(queuedMs: number): void {
      queued.record(queuedMs);
    },
    ended(request: {
      request: LoadRequest;
      faults: readonly Fault[];
      latencyMs: number;
      serviceMs: number;
      wasCutOff: boolean;
    }): void {
      const { label, calls } = request.request;
      if (request.wasCutOff) {
        totals.cutOff += calls.length;
        return;
      }
      totals.requests += 1;
      methods.of(label).requests += 1;
      const failed = request.faults.reduce((sum, fault) => sum + fault.calls, 0);
      const wasLate = request.faults.some(({ kind }) => kind === "timeout");
      if (failed < calls.length || wasLate) service.record(request.serviceMs);
      count({ ...request, label, calls: calls.length, atMs: now() - beganMs });
    },
    notSent({ label, calls, why, latencyMs }: NotSent): void {
      const message = `due, but not sent within ${timeoutMs / 1000} s: ${why}`;
      const fault: Fault = { kind: "not sent", code: why, method: label, message, calls };
      // It would have waited for the timeout at least.
      const waitedMs = Math.max(latencyMs, timeoutMs);
      count({ label, calls, faults: [fault], latencyMs: waitedMs, atMs: now() - beganMs });
    },
    cutOff(calls: number): void {
      totals.cutOff += calls;
    },
    /** A transaction whose receipt was waited for: it counts as a call of its own among the errors only. */
    mined({ latencyMs, fault }: { latencyMs: number; fault?: string }): void {
      if (fault === undefined) {
        mined.record(latencyMs);
        return;
      }
      errors.add(notMined(fault));
      for (const each of bothSeries) each.calls(now() - beganMs, { calls: 0, failed: 1 });
    },
    endedEarly: endedEarly.add,
    elapsedMs: () => now() - beganMs,
    failed: errors.failed,
    /** The last whole second; `undefined` while the first has not ended. */
    lastSecond(): Slice | undefined {
      live.advance(now() - beganMs);
      return live.last();
    },
    /** All of it, once the run has ended. */
    result(): Recorded {
      series.finish(now() - beganMs);
      return {
        ...totals,
        failed: errors.failed(),
        latencyMs: latency.summary(),
        serviceMs: service.summary(),
        failedMs: failure.summary(),
        queuedMs: queued.summary(),
        lateMs: late.summary(),
        minedMs: mined.summary(),
        curve: latency.curve(),
        methods: methods.rows(),
        errors: errors.rows(),
        series: series.slices(),
        endedEarly: endedEarly.rows(),
      };
    },
  };
}

function notMined(message: string): Fault {
  return { kind: "not mined", code: "receipt", method: "eth_sendRawTransaction", message, calls: 1 };
}
