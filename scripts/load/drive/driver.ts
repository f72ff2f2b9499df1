import type { Script } from "../mix/script.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Arrivals } from "./arrivals.ts";
import type { Clock } from "./clock.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** A wake-up costs 10 to 20 µs, so at high rates a few arrivals share one. */
const wakeEveryMsMin = 0.2;
const sweepEveryMs = 50;

export type Driver = {
  /** Starts each script when it is due. Resolves when every script has ended. */
  run(): Promise<void>;
  /** No more arrivals. Requests that still wait are given up, requests in flight may end. */
  stop(): void;
};

/**
 * The open loop: scripts begin at their intended times whether earlier ones were answered or not. If this process itself
 * was late, it starts all scripts that are due at once, and each counts from its own intended time.
 */
export function createDriver({
  arrivals,
  pick,
  dispatcher,
  recorder,
  clock,
  scriptsRunningMax,
  onSweep,
}: {
  arrivals: Arrivals;
  pick: () => Script;
  dispatcher: Dispatcher;
  recorder: Recorder;
  clock: Clock;
  /** Scripts beyond this are counted as not sent. So nothing that waits grows without a bound. */
  scriptsRunningMax: number;
  /** Called every 50 ms, for deadlines. */
  onSweep: () => void;
}): Driver {
  let running = 0;
  let noMoreArrivals = false;
  let finished: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    finished = resolve;
  });

  const settle = () => {
    if (noMoreArrivals && running === 0) finished();
  };

  function start(intendedMs: number): void {
    const script = pick();
    if (running >= scriptsRunningMax) {
      recorder.notSent({
        label: script.name,
        tag: script.tag,
        calls: script.calls,
        why: "too many waiting",
        latencyMs: 0,
      });
      return;
    }
    running += 1;
    void script.run(intendedMs).finally(() => {
      running -= 1;
      settle();
    });
  }

  return {
    async run() {
      const beganMs = clock.now();
      recorder.began(beganMs);
      let next = arrivals.next();
      const tick = () => {
        if (noMoreArrivals) return;
        const nowMs = clock.now();
        while (next !== undefined && beganMs + next <= nowMs) {
          recorder.arrival(nowMs - (beganMs + next));
          start(beganMs + next);
          next = arrivals.next();
        }
        if (next !== undefined) {
          clock.wakeAt(Math.max(beganMs + next, nowMs + wakeEveryMsMin), tick);
        } else {
          noMoreArrivals = true;
          settle();
        }
      };
      const stopSweep = clock.every(sweepEveryMs, () => {
        dispatcher.expire();
        onSweep();
      });
      tick();
      await done;
      stopSweep();
    },
    stop() {
      noMoreArrivals = true;
      dispatcher.abandonQueue();
      settle();
    },
  };
}
