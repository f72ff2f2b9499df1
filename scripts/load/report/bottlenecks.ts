import type { Recorded } from "../record/recorder.ts";
import type { SelfUse } from "../record/self-watch.ts";
import { milliseconds } from "./format.ts";

/** Above this, a part of the measured latency is our own. */
const lateP99MsMax = 10;
/** The share of seconds without time left that a run may have, for its first moments are always busy. */
const busySecondsShareMax = 0.1;
const queuedShareOfLatency = 0.1;

/**
 * Says whether the load tool itself limited the run, and what to do about it, in a sentence or two each. It also mentions
 * queueing for a connection: the gateway may cause it, but a reader of the figures has to know.
 */
export function findBottlenecks({
  recorded: { lateMs, queuedMs, latencyMs },
  self,
  connections,
}: {
  recorded: Pick<Recorded, "lateMs" | "queuedMs" | "latencyMs">;
  self: SelfUse;
  connections: number;
}): string[] {
  const found: string[] = [];
  const isBusy = self.busySeconds > Math.max(1, self.seconds * busySecondsShareMax);
  if (isBusy || lateMs.p99 > lateP99MsMax) {
    const why = isBusy
      ? `its event loop had no time left in ${self.busySeconds} of ${self.seconds} s`
      : `1 % of the scripts began ${milliseconds(lateMs.p99)} or more after they were due`;
    found.push(
      `The load tool was itself the bottleneck: ${why}, so a part of the latencies is its own. ` +
        "Share the rate between several processes (--processes), best on another machine than the gateway's, or lower it.",
    );
  }
  if (queuedMs.p99 > Math.max(1, latencyMs.p99 * queuedShareOfLatency)) {
    found.push(
      `Requests waited for one of the ${connections} connections: 1 % of them ${milliseconds(queuedMs.p99)} or more. ` +
        "All were in use because answers took long or because the rate needs more: compare with a higher --connections.",
    );
  }
  return found;
}
