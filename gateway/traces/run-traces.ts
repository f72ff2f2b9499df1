import type { CallToForward } from "../methods/call.ts";
import type { CallOptions, Settle, Unanswered } from "../upstream/upstream-result.ts";
import type { ValidatorPool } from "../upstream/validator-pool.ts";
import { callFingerprint } from "./call-fingerprint.ts";
import type { DeadlyCalls } from "./deadly-calls.ts";
import { createRunTrace } from "./run-trace.ts";
import { createTraceAdmission } from "./trace-admission.ts";
import { createTraceQueue, type WaitingTrace } from "./trace-queue.ts";
import type { TraceSettings } from "./trace-settings.ts";
import type { TraceSlot, TraceSlots } from "./trace-slots.ts";

export type RunTraces = ReturnType<typeof createRunTraces>;

/** How often waiting traces look for a place that another gateway has given back. */
const lookEveryMs = 50;
/** A trace keeps its place a little longer than its time, because the validator goes on with it. */
const lifetimeMoreMs = 5000;

export type RunTracesOptions = {
  pool: Pick<ValidatorPool, "submit" | "healthy">;
  slots: TraceSlots;
  deadly: DeadlyCalls;
  settings: Pick<TraceSettings, "sparedMin" | "queueMax" | "queuePerKeyMax">;
  nodesInAll: () => number;
  monotonicMs: () => number;
};

/**
 * Runs traces: one at a time on a validator and one of a key, over all gateways. A trace never goes to a second validator,
 * and none begins where too few validators would be left if it ended its own. Waiting traces go by turns of their keys.
 */
export function createRunTraces(options: RunTracesOptions) {
  const { pool, slots, deadly, settings, nodesInAll, monotonicMs } = options;
  const queue = createTraceQueue();
  const { whyNot, whyFull, spared, problem } = createTraceAdmission({
    pool,
    deadly,
    queue,
    settings,
    nodesInAll,
    isStopped: () => stopped,
  });
  const starting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function submit(call: CallToForward, options: CallOptions, settle: Settle): void {
    const { group: keyId, timeoutMs = call.rule.timeoutMs } = options;
    const why = whyNot(call, keyId) ?? whyFull(keyId);
    if (why !== undefined) {
      settle(why);
      return;
    }
    const deadlineMs = monotonicMs() + timeoutMs;
    queue.push({ call, fingerprint: callFingerprint(call), keyId, options, deadlineMs, unsent: 0, settle });
    void startNext(keyId);
  }

  const run = createRunTrace({ pool, deadly, nodesInAll, monotonicMs, giveBack, putBack: queue.putBack });

  /** Begins the first waiting trace of a key, where it may begin. */
  async function startNext(keyId: string): Promise<void> {
    const first = queue.first(keyId);
    if (first === undefined || starting.has(keyId)) return;
    starting.add(keyId);
    const slot = await choose(first);
    starting.delete(keyId);
    // Its time may have run out meanwhile.
    const isThere = queue.first(keyId) === first;
    if (typeof slot !== "string") {
      // The key's next trace finds the key busy until this one is answered.
      if (isThere) {
        queue.takeOut(first);
        run(first, slot);
      } else slots.give(slot);
    } else if (isThere && slot !== "busy") {
      queue.takeOut(first);
      first.settle(slot);
      void startNext(keyId);
    }
    lookLater();
  }

  async function choose({
    call,
    keyId,
    fingerprint,
    deadlineMs,
  }: WaitingTrace): Promise<TraceSlot | Unanswered> {
    const refused = whyNot(call, keyId);
    if (refused !== undefined) return refused;
    const urls = pool.healthy().map(({ url }) => url);
    const lifetimeMs = Math.ceil(Math.max(0, deadlineMs - monotonicMs())) + lifetimeMoreMs;
    return slots.take({ keyId, fingerprint, urls, spared: spared(), lifetimeMs });
  }

  function giveBack(slot: TraceSlot, keyId: string): void {
    slots.give(slot);
    queue.endTurn(keyId);
    startAll();
  }

  function startAll(): void {
    for (const keyId of queue.keys()) void startNext(keyId);
  }

  function lookLater(): void {
    if (queue.count() === 0 || timer !== undefined || stopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      for (const { settle } of queue.takeLate(monotonicMs())) settle("busy");
      startAll();
      lookLater();
    }, lookEveryMs).unref();
  }

  return {
    submit,
    stats: () => ({ running: slots.running(), waiting: queue.count() }),
    problem,
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      for (const { settle } of queue.drain()) settle("unavailable");
    },
  };
}
