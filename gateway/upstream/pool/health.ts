import type { FailureReason } from "./connection.ts";
import type { PoolSettings } from "./pool-settings.ts";

export type Health = ReturnType<typeof createHealth>;

export type Ejection = { reason: FailureReason; atMs: number };

/** A half-open validator without any traffic counts as healthy after this time. */
const halfOpenMsMax = 2000;
/** After so long in use an earlier ejection no longer makes the next pause longer. */
const forgottenAfterMs = 10_000;

/**
 * The circuit breaker of one validator. `closed`: it gets calls. `open`: it is ejected and gets pings only. `half-open`: it
 * answered a ping, and the first answer to a call closes the breaker. A suspect gets calls only where nobody better is.
 */
export function createHealth({
  settings,
  mayEject,
  onEjected,
  onReadmitted,
}: {
  settings: PoolSettings["health"];
  /** False for the last one that can be asked. */
  mayEject: () => boolean;
  onEjected: (reason: FailureReason) => void;
  onReadmitted: () => void;
}) {
  let state: "closed" | "open" | "half-open" = "closed";
  let isSuspect = false;
  let failuresInRow = 0;
  let nextPingAtMs = 0;
  let pauseMs = settings.retryMs;
  let halfOpenSinceMs = 0;
  let backAtMs = Number.NEGATIVE_INFINITY;
  let lastEjection: Ejection | undefined;
  const ejections = new Map<FailureReason, number>();

  function eject(reason: FailureReason, nowMs: number): void {
    if (state === "open") return;
    if (!mayEject()) {
      isSuspect = true;
      nextPingAtMs = nowMs + settings.retryMs;
      return;
    }
    if (state === "closed" && nowMs - backAtMs > forgottenAfterMs) pauseMs = settings.retryMs;
    state = "open";
    isSuspect = false;
    lastEjection = { reason, atMs: nowMs };
    ejections.set(reason, (ejections.get(reason) ?? 0) + 1);
    pauseLonger(nowMs);
    onEjected(reason);
  }

  function pauseLonger(nowMs: number): void {
    nextPingAtMs = nowMs + pauseMs;
    pauseMs = Math.min(pauseMs * 2, settings.retryMsMax);
  }

  function close(nowMs: number): void {
    state = "closed";
    backAtMs = nowMs;
    onReadmitted();
  }

  return {
    state: () => state,
    isSuspect: () => isSuspect,
    lastEjection: () => lastEjection,
    ejections: (): ReadonlyMap<FailureReason, number> => ejections,

    succeeded(nowMs: number): void {
      failuresInRow = 0;
      isSuspect = false;
      if (state !== "closed") close(nowMs);
    },

    /** Ejects the validator where nobody listens, where it fails half-open, or fails too often in a row. */
    failed(reason: FailureReason, nowMs: number): void {
      failuresInRow += 1;
      if (reason === "connect" || state === "half-open" || failuresInRow >= settings.failuresMax) {
        eject(reason, nowMs);
      }
    },

    /** It has open requests and sends nothing: a ping tells whether it answers at all. */
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
        state = "half-open";
        halfOpenSinceMs = nowMs;
      } else if (state === "open") pauseLonger(nowMs);
      else eject(failure, nowMs);
    },

    tick(nowMs: number): void {
      if (state === "half-open" && nowMs - halfOpenSinceMs >= halfOpenMsMax) close(nowMs);
    },
  };
}
