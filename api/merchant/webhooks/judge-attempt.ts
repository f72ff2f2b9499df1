/** What becomes of a delivery after a try. */
export type Judgement =
  | { state: "delivered" }
  | { state: "waiting"; againAfterMs: number }
  | { state: "dead"; isGone: boolean };

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long after each try the next is made. After as many and one more, a delivery is dead. */
export const promisedScheduleMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** So that what failed together does not come back together. */
const jitterShare = 0.2;
const retryAfterMaxMs = hourMs;
const asksForTime = new Set([429, 502, 503, 504]);

/**
 * Only 2xx is success: a redirect is not followed, and so has not arrived. A receiver that asks for time (Retry-After) gets up to an
 * hour of it, and never less than the schedule has. 410 says that nothing is wanted there any more.
 */
export function judgeAttempt({
  tries,
  status,
  error,
  retryAfter,
  nowMs,
  random,
  scheduleMs = promisedScheduleMs,
}: {
  /** How often it was tried, this time included. */
  tries: number;
  status: number | null;
  error: string | null;
  retryAfter: string | undefined;
  nowMs: number;
  /** From 0 to 1. */
  random: () => number;
  scheduleMs?: readonly number[] | undefined;
}): Judgement {
  if (status !== null && error === null && status >= 200 && status < 300) return { state: "delivered" };
  if (status === 410) return { state: "dead", isGone: true };
  const plannedMs = scheduleMs[tries - 1];
  if (plannedMs === undefined) return { state: "dead", isGone: false };
  const spreadMs = Math.round(plannedMs * (1 + jitterShare * (2 * random() - 1)));
  const askedMs = status !== null && asksForTime.has(status) ? readRetryAfter(retryAfter, nowMs) : 0;
  return { state: "waiting", againAfterMs: Math.max(spreadMs, Math.min(askedMs, retryAfterMaxMs)) };
}

/** Seconds or a date (RFC 9110, 10.2.3); 0 where it says nothing. */
function readRetryAfter(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  const atMs = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}
