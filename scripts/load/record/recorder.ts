import type { Fault, LoadRequest } from "../request.ts";
import type { Figures } from "../thresholds/judge-thresholds.ts";
import { createCallCounter } from "./call-counter.ts";
import type { ErrorRow } from "./error-table.ts";
import type { LatencySummary } from "./latencies.ts";
import type { EarlyEnd, MethodRow } from "./run-tables.ts";
import { createSeries, type Slice, type SliceText, sumSeries } from "./series.ts";
import { createTallies, sumTallies, type Tallies, type TalliesText, writeTallies } from "./tallies.ts";

export type NotSent = {
  label: string;
  tag?: string | undefined;
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
  tags: MethodRow[];
  errors: ErrorRow[];
  series: readonly Slice[];
  /** Scripts that ended before their last step, and at which one. */
  endedEarly: EarlyEnd[];
};

/** What a process has recorded, as text that can be added to that of others. */
export type RecordedPart = { tallies: TalliesText; series: readonly SliceText[] };

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
  /** Keeps what adding several processes needs. */
  isPart?: boolean;
}) {
  const { now, timeoutMs, sliceMs, waiting, isPart = false } = options;
  const tallies = createTallies();
  const { totals, trends, methods, tags, errors, endedEarly } = tallies;
  const series = createSeries({ sliceMs, slicesMax, waiting, keepsHistograms: isPart });
  const live = createSeries({ sliceMs: liveSliceMs, slicesMax: 1, waiting, keepsHistograms: isPart });
  const bothSeries = [series, live];
  let beganMs = 0;
  const count = createCallCounter({ tallies, series: bothSeries });

  return {
    began(nowMs: number): void {
      beganMs = nowMs;
    },
    arrival(lateMs: number): void {
      totals.arrivals += 1;
      trends.late.record(lateMs);
      for (const each of bothSeries) each.arrival(now() - beganMs);
    },
    sent(queuedMs: number): void {
      trends.queued.record(queuedMs);
    },
    ended(request: {
      request: LoadRequest;
      faults: readonly Fault[];
      latencyMs: number;
      serviceMs: number;
      wasCutOff: boolean;
    }): void {
      const { label, tag, calls } = request.request;
      if (request.wasCutOff) {
        totals.cutOff += calls.length;
        return;
      }
      totals.requests += 1;
      methods.of(label).requests += 1;
      if (tag !== undefined) tags.of(tag).requests += 1;
      const failed = request.faults.reduce((sum, fault) => sum + fault.calls, 0);
      const wasLate = request.faults.some(({ kind }) => kind === "timeout");
      if (failed < calls.length || wasLate) trends.service.record(request.serviceMs);
      count({ ...request, label, tag, calls: calls.length, atMs: now() - beganMs });
    },
    notSent({ label, tag, calls, why, latencyMs }: NotSent): void {
      const message = `due, but not sent within ${timeoutMs / 1000} s: ${why}`;
      const fault: Fault = { kind: "not sent", code: why, method: label, message, calls };
      // It would have waited for the timeout at least.
      const waitedMs = Math.max(latencyMs, timeoutMs);
      count({ label, tag, calls, faults: [fault], latencyMs: waitedMs, atMs: now() - beganMs });
    },
    cutOff(calls: number): void {
      totals.cutOff += calls;
    },
    /** A transaction whose receipt was waited for: it counts as a call of its own among the errors only. */
    mined({ latencyMs, fault }: { latencyMs: number; fault?: string }): void {
      if (fault === undefined) {
        trends.mined.record(latencyMs);
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
    lastSecondText(): SliceText | undefined {
      live.advance(now() - beganMs);
      return live.lastText();
    },
    figures: (stuck?: number): Figures => figuresOf({ tallies, elapsedMs: now() - beganMs, stuck }),
    /** The counts so far. */
    talliesText: () => writeTallies(tallies),
    part(): RecordedPart {
      series.finish(now() - beganMs);
      return { tallies: writeTallies(tallies), series: series.texts() };
    },
    /** All of it, once the run has ended. */
    result(): Recorded {
      series.finish(now() - beganMs);
      return recordedOf(tallies, series.slices());
    },
  };
}

/** What several processes recorded, as if it had been one. */
export function sumParts(
  parts: readonly RecordedPart[],
  { elapsedMs, stuck }: { elapsedMs: number; stuck: number | undefined },
): { recorded: Recorded; figures: Figures } {
  const tallies = sumTallies(parts.map((part) => part.tallies));
  return {
    recorded: recordedOf(tallies, sumSeries(parts.map(({ series }) => series))),
    figures: figuresOf({ tallies, elapsedMs, stuck }),
  };
}

function recordedOf(
  { totals, trends, methods, tags, errors, endedEarly }: Tallies,
  series: readonly Slice[],
): Recorded {
  return {
    ...totals,
    failed: errors.failed(),
    latencyMs: trends.latency.summary(),
    serviceMs: trends.service.summary(),
    failedMs: trends.failure.summary(),
    queuedMs: trends.queued.summary(),
    lateMs: trends.late.summary(),
    minedMs: trends.mined.summary(),
    curve: trends.latency.curve(),
    methods: methods.rows(),
    tags: tags.rows(),
    errors: errors.rows(),
    series,
    endedEarly: endedEarly.rows(),
  };
}

/** What thresholds are held against. */
export function figuresOf({
  tallies: { totals, trends, methods, tags, errors },
  elapsedMs,
  stuck,
}: {
  tallies: Tallies;
  elapsedMs: number;
  stuck: number | undefined;
}): Figures {
  const rowOf = ({ by, value }: { by: "method" | "tag"; value: string }) =>
    (by === "method" ? methods : tags).get(value);
  return {
    latency: (selector) => (selector === undefined ? trends.latency : rowOf(selector)?.latencies),
    trend: (metric) => trends[metric],
    calls(selector) {
      if (selector === undefined) return { calls: totals.calls, failed: errors.failed() };
      return rowOf(selector) ?? { calls: 0, failed: 0 };
    },
    stuck,
    elapsedMs,
  };
}

function notMined(message: string): Fault {
  return { kind: "not mined", code: "receipt", method: "eth_sendRawTransaction", message, calls: 1 };
}
