import type { FailureReason } from "./connection.ts";
import type { PoolSettings } from "./pool-settings.ts";

export type Health = ReturnType<typeof createHealth>;

export type TakenOut = { reason: FailureReason; atMs: number };

/** How long a validator may be on trial without any traffic before it counts as well. */
const trialMsMax = 2000;
/** After so long in use an earlier failure no longer makes the next pause longer. */
const forgottenAfterMs = 10_000;

/**
 * Whether a validator is asked. `closed`: it is. `open`: it is not, and is pinged from time to time. `trial`: it
 * answered a ping, and the first answer to a call closes the breaker. A suspect is asked only where nobody better is.
 */
export function createHealth({
  settings,
  mayTakeOut,
  onTakenOut,
  onBack,
}: {
  settings: PoolSettings["health"];
  /** False for the last one: health is relative. */
  mayTakeOut: () => boolean;
  onTakenOut: (reason: FailureReason) => void;
  onBack: () => void;
}) {
  let state: "closed" | "open" | "trial" = "closed";
  let isSuspect = false;
  let failuresInRow = 0;
  let nextPingAtMs = 0;
  let pauseMs = settings.retryMs;
  let trialSinceMs = 0;
  let backAtMs = Number.NEGATIVE_INFINITY;
  let lastTakenOut: TakenOut | undefined;
  const timesTakenOut = new Map<FailureReason, number>();

  function takeOut(reason: FailureReason, nowMs: number): void {
    if (state === "open") return;
    if (!mayTakeOut()) {
      isSuspect = true;
      nextPingAtMs = nowMs + settings.retryMs;
      return;
    }
    if (state === "closed" && nowMs - backAtMs > forgottenAfterMs) pauseMs = settings.retryMs;
    state = "open";
    isSuspect = false;
    lastTakenOut = { reason, atMs: nowMs };
    timesTakenOut.set(reason, (timesTakenOut.get(reason) ?? 0) + 1);
    pauseLonger(nowMs);
    onTakenOut(reason);
  }

  function pauseLonger(nowMs: number): void {
    nextPingAtMs = nowMs + pauseMs;
    pauseMs = Math.min(pauseMs * 2, settings.retryMsMax);
  }

  function close(nowMs: number): void {
    state = "closed";
    backAtMs = nowMs;
    onBack();
  }

  return {
    state: () => state,
    isSuspect: () => isSuspect,
    lastTakenOut: () => lastTakenOut,
    timesTakenOut: (): ReadonlyMap<FailureReason, number> => timesTakenOut,

    succeeded(nowMs: number): void {
      failuresInRow = 0;
      isSuspect = false;
      if (state !== "closed") close(nowMs);
    },

    /** Nobody listens, or it failed on trial, or too often in a row: then it is out. */
    failed(reason: FailureReason, nowMs: number): void {
      failuresInRow += 1;
      if (reason === "connect" || state === "trial" || failuresInRow >= settings.failuresMax) {
        takeOut(reason, nowMs);
      }
    },

    /** It is asked something and says nothing: a ping tells whether it still answers anything. */
    isSilent(nowMs: number): void {
      if (isSuspect || state === "open") return;
      isSuspect = true;
      nextPingAtMs = nowMs;
    },

    needsPing: (nowMs: number) => (state === "open" || isSuspect) && nowMs >= nextPingAtMs,

    /** `failure` undefined: the ping was answered. */
    pinged(failure: FailureReason | undefined, nowMs: number): void {
      if (failure === undefined) {
        isSuspect = false;
        failuresInRow = 0;
        if (state !== "open") return;
        state = "trial";
        trialSinceMs = nowMs;
      } else if (state === "open") pauseLonger(nowMs);
      else takeOut(failure, nowMs);
    },

    tick(nowMs: number): void {
      if (state === "trial" && nowMs - trialSinceMs >= trialMsMax) close(nowMs);
    },
  };
}
