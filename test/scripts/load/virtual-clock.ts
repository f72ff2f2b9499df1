import type { Clock } from "../../../scripts/load/drive/clock.ts";

type Event = { atMs: number; order: number; run: () => void };

/** A clock whose time goes on only as far as something is to happen, exactly then. */
export function createVirtualClock() {
  let nowMs = 0;
  let order = 0;
  const events: Event[] = [];
  let wake: Event | undefined;

  function schedule(atMs: number, run: () => void): Event {
    order += 1;
    const event = { atMs: Math.max(atMs, nowMs), order, run };
    let index = events.length;
    for (; index > 0; index -= 1) {
      const before = events[index - 1];
      if (before === undefined || before.atMs <= event.atMs) break;
    }
    events.splice(index, 0, event);
    return event;
  }
  function cancel(event: Event): void {
    const index = events.indexOf(event);
    if (index >= 0) events.splice(index, 1);
  }

  const clock: Clock = {
    now: () => nowMs,
    wakeAt(timeMs, callback) {
      if (wake !== undefined) cancel(wake);
      wake = schedule(timeMs, callback);
    },
    every(intervalMs, callback) {
      let next: Event;
      const again = () => {
        next = schedule(nowMs + intervalMs, () => {
          callback();
          again();
        });
      };
      let isOn = true;
      const start = () => {
        if (isOn) again();
      };
      start();
      return () => {
        isOn = false;
        cancel(next);
      };
    },
    sleep: (lengthMs) => new Promise((resolve) => schedule(nowMs + lengthMs, resolve)),
  };
  return {
    clock,
    at: (atMs: number, run: () => void) => void schedule(atMs, run),
    /** Lets everything happen in its order until `done` settles. */
    async runUntil(done: Promise<unknown>): Promise<void> {
      let isDone = false;
      void done.finally(() => {
        isDone = true;
      });
      for (;;) {
        // What has been resolved at this moment comes before the next one.
        for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
        if (isDone) return;
        const next = events.shift();
        if (next === undefined) throw new Error("nothing is left to happen, and it is not done");
        nowMs = next.atMs;
        next.run();
      }
    },
  };
}
