import type { CallToForward } from "../methods/call.ts";
import {
  type CallOptions,
  isStreamed,
  type Settle,
  type StreamedAnswer,
  type Unanswered,
} from "../upstream/upstream-result.ts";
import type { ValidatorPool } from "../upstream/validator-pool.ts";
import { callFingerprint } from "./call-fingerprint.ts";
import type { DeadlyCalls } from "./deadly-calls.ts";
import { createTraceQueue, type WaitingTrace } from "./trace-queue.ts";
import type { TraceSettings } from "./trace-settings.ts";
import type { TraceSlot, TraceSlots } from "./trace-slots.ts";

export type RunTraces = ReturnType<typeof createRunTraces>;

/** How often waiting traces look for a place that another gateway has given back. */
const lookEveryMs = 50;
/** A trace keeps its place a little longer than its time, because the validator goes on with it. */
const lifetimeMoreMs = 5000;
/** How long the place of a lost trace is kept: the validator comes back, and should not fall again at once. */
const lostMs = 10_000;

/**
 * Runs traces: one at a time on a validator and one of a key, over all gateways. A trace never goes to a second validator,
 * and none begins where too few validators would be left if it ended its own. Waiting traces go by turns of their keys.
 */
export function createRunTraces({
  pool,
  slots,
  deadly,
  settings: { sparedMin, queueMax, queuePerKeyMax },
  nodesInAll,
  monotonicMs,
}: {
  pool: Pick<ValidatorPool, "submit" | "healthy">;
  slots: TraceSlots;
  deadly: DeadlyCalls;
  settings: Pick<TraceSettings, "sparedMin" | "queueMax" | "queuePerKeyMax">;
  nodesInAll: number;
  monotonicMs: () => number;
}) {
  /** Where there are fewer nodes in all, one of them has to do. */
  const spared = Math.min(sparedMin, nodesInAll - 1);
  const queue = createTraceQueue();
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

  function whyNot(call: CallToForward, keyId: string): Unanswered | undefined {
    if (stopped) return "unavailable";
    if (deadly.isStruck(keyId)) return "struck";
    if (deadly.has(call)) return "deadly";
    const healthy = pool.healthy().length;
    if (healthy === 0) return "unavailable";
    return healthy > spared ? undefined : "spared";
  }

  function whyFull(keyId: string): Unanswered | undefined {
    if (queue.countOf(keyId) >= queuePerKeyMax) return "crowded";
    return queue.count() >= queueMax ? "busy" : undefined;
  }

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
    return slots.take({ keyId, fingerprint, urls, spared, lifetimeMs });
  }

  function run(trace: WaitingTrace, slot: TraceSlot): void {
    const { call, keyId, options, deadlineMs, settle } = trace;
    const target = pool.healthy().find(({ url }) => url === slot.url)?.index;
    const timeoutMs = deadlineMs - monotonicMs();
    if (target === undefined || timeoutMs <= 0) {
      giveBack(slot, keyId);
      settle("unavailable");
      return;
    }
    pool.submit(call, { ...options, target, timeoutMs }, (result) => {
      if (result === "lost" || result === "overdue") {
        // No trace of this key begins before all gateways know.
        void deadly.note(call, { keyId, reason: result }).then(() => {
          setTimeout(() => giveBack(slot, keyId), lostMs).unref();
          settle(result);
        });
      } else if (typeof result !== "string" && isStreamed(result)) {
        settle(
          untilEnd(result, (isBroken) =>
            isBroken ? lostInStream(call, slot, keyId) : giveBack(slot, keyId),
          ),
        );
      } else if (result === "unsent" && trace.unsent < nodesInAll) {
        trace.unsent += 1;
        queue.putBack(trace);
        giveBack(slot, keyId);
      } else {
        giveBack(slot, keyId);
        settle(result);
      }
    });
  }

  /** The client hears of it by its connection, which breaks. */
  function lostInStream(call: CallToForward, slot: TraceSlot, keyId: string): void {
    void deadly.note(call, { keyId, reason: "lost in its answer" }).then(() => giveBack(slot, keyId));
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
    /** Why no trace begins at the moment, in words for people; undefined where traces do. */
    problem(): string | undefined {
      const healthy = pool.healthy().length;
      return healthy > spared ? undefined : `no traces: ${healthy} healthy of ${nodesInAll}`;
    },
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      for (const { settle } of queue.drain()) settle("unavailable");
    },
  };
}

/** The same stream, which calls `ended` once, at its end. */
function untilEnd(answer: StreamedAnswer, ended: (isBroken: boolean) => void): StreamedAnswer {
  let isOver = false;
  const end = (isBroken: boolean) => {
    if (!isOver) ended(isBroken);
    isOver = true;
  };
  return {
    ...answer,
    start(reader) {
      answer.start({
        onChunk: reader.onChunk,
        onEnd() {
          end(false);
          reader.onEnd();
        },
        onFailure(isBroken) {
          end(isBroken);
          reader.onFailure(isBroken);
        },
      });
    },
    abort() {
      end(false);
      answer.abort();
    },
  };
}
