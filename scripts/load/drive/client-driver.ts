import type { Script } from "../mix/script.ts";
import { clientsAt, type Part, type Plan, shareOf } from "../plan/plan.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Clock } from "./clock.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Driver } from "./driver.ts";

const sweepEveryMs = 50;

/**
 * The closed loop: as many clients as the plan wants at a time, each with one script at a time. A client that is too many
 * ends with its script. Where nothing answers, or at once, all clients together begin at most `maxPerSecond`: else a
 * gateway that refuses quickly would be asked as fast as this machine can.
 */
export function createClientDriver({
  plan: { stages, thinkMs, maxPerSecond },
  lengthMs,
  part,
  pick,
  dispatcher,
  recorder,
  clock,
  onSweep,
}: {
  plan: Extract<Plan, { kind: "clients" }>;
  lengthMs: number;
  part: Part;
  pick: () => Script;
  dispatcher: Dispatcher;
  recorder: Recorder;
  clock: Clock;
  /** Called every 50 ms, for deadlines. */
  onSweep: () => void;
}): Driver {
  const perSecond = maxPerSecond / part.of;
  let beganMs = 0;
  let begun = 0;
  let clients = 0;
  let running = 0;
  let isOver = false;
  /** Clients that would begin more than `maxPerSecond`. */
  let held = 0;
  let finished: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    finished = resolve;
  });

  const settle = () => {
    if (isOver && running === 0) finished();
  };
  const wanted = () => (isOver ? 0 : shareOf(clientsAt(stages, clock.now() - beganMs), part));
  // A twentieth of a second's scripts may begin at once, which is how long a client waits here at most.
  const allowed = () => (perSecond * (clock.now() - beganMs + sweepEveryMs)) / 1000;

  function next(): void {
    if (clients > wanted()) {
      clients -= 1;
      return;
    }
    if (begun >= Math.max(1, allowed())) {
      held += 1;
      return;
    }
    begun += 1;
    running += 1;
    recorder.arrival(0);
    void pick()
      .run(clock.now())
      .finally(() => {
        running -= 1;
        settle();
        if (thinkMs === 0) next();
        else void clock.sleep(thinkMs).then(next);
      });
  }

  function adjust(): void {
    if (clock.now() - beganMs >= lengthMs) isOver = true;
    const again = held;
    held = 0;
    for (let count = 0; count < again; count += 1) next();
    for (let missing = wanted() - clients; missing > 0; missing -= 1) {
      clients += 1;
      next();
    }
    settle();
  }

  return {
    async run() {
      beganMs = clock.now();
      recorder.began(beganMs);
      const stopSweep = clock.every(sweepEveryMs, () => {
        adjust();
        dispatcher.expire();
        onSweep();
      });
      adjust();
      await done;
      stopSweep();
    },
    stop() {
      isOver = true;
      dispatcher.abandonQueue();
      settle();
    },
  };
}
