import type { CallToForward } from "../methods/call.ts";
import type { Unanswered } from "../upstream/upstream-result.ts";
import type { ValidatorPool } from "../upstream/validator-pool.ts";
import type { DeadlyCalls } from "./deadly-calls.ts";
import type { createTraceQueue } from "./trace-queue.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** Says whether a trace may begin, and whether one more may wait. */
export function createTraceAdmission({
  pool,
  deadly,
  queue,
  settings: { sparedMin, queueMax, queuePerKeyMax },
  nodesInAll,
  isStopped,
}: {
  pool: Pick<ValidatorPool, "healthy">;
  deadly: Pick<DeadlyCalls, "has" | "isStruck">;
  queue: Pick<ReturnType<typeof createTraceQueue>, "count" | "countOf">;
  settings: Pick<TraceSettings, "sparedMin" | "queueMax" | "queuePerKeyMax">;
  nodesInAll: () => number;
  isStopped: () => boolean;
}) {
  /** How many healthy nodes stay without a trace. Where there are fewer in all, one of them has to do. */
  const spared = () => Math.min(sparedMin, nodesInAll() - 1);

  function whyNot(call: CallToForward, keyId: string): Unanswered | undefined {
    if (isStopped()) return "unavailable";
    if (deadly.isStruck(keyId)) return "struck";
    if (deadly.has(call)) return "deadly";
    const healthy = pool.healthy().length;
    if (healthy === 0) return "unavailable";
    return healthy > spared() ? undefined : "spared";
  }

  function whyFull(keyId: string): Unanswered | undefined {
    if (queue.countOf(keyId) >= queuePerKeyMax) return "crowded";
    return queue.count() >= queueMax ? "busy" : undefined;
  }

  /** Why no trace begins at the moment, in words for people; undefined where traces do. */
  function problem(): string | undefined {
    const healthy = pool.healthy().length;
    return healthy > spared() ? undefined : `no traces: ${healthy} healthy of ${nodesInAll()}`;
  }

  return { whyNot, whyFull, spared, problem };
}
