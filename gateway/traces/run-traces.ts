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
import type { TraceSettings } from "./trace-settings.ts";
import type { TraceSlot, TraceSlots } from "./trace-slots.ts";

export type RunTraces = ReturnType<typeof createRunTraces>;

/** How often traces that wait for another gateway's look again. */
const lookEveryMs = 50;
/** After a validator's time for a trace is over its place is kept a little longer: it goes on with it. */
const lifetimeMoreMs = 5000;
/** How long the place of a validator that a trace was lost with is kept: it comes back, and should not fall at once. */
const lostMs = 10_000;

type Waiting = {
  call: CallToForward;
  fingerprint: string;
  keyId: string;
  options: CallOptions;
  deadlineMs: number;
  /** How often it was put to a validator that it did not reach. */
  unsent: number;
  settle: Settle;
};

/**
 * Runs traces: one at a time on a validator and one of a key, over all gateways, never put to a second validator, and
 * none where too few validators would be left if it ended the one that runs it. What waits is asked in turn by key.
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
  /** Where there are fewer in all, one of them has to do. */
  const spared = Math.min(sparedMin, nodesInAll - 1);
  // By key, so that one key's many wait behind each other and not before another key's.
  const queues = new Map<string, Waiting[]>();
  const starting = new Set<string>();
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function submit(call: CallToForward, options: CallOptions & { group: string }, settle: Settle): void {
    const { group: keyId, timeoutMs = call.rule.timeoutMs } = options;
    const refused = whyNot(call, keyId);
    const queue = queues.get(keyId) ?? [];
    const why =
      refused ?? (queue.length >= queuePerKeyMax ? "crowded" : waiting >= queueMax ? "busy" : undefined);
    if (why !== undefined) {
      settle(why);
      return;
    }
    const deadlineMs = monotonicMs() + timeoutMs;
    queue.push({ call, fingerprint: callFingerprint(call), keyId, options, deadlineMs, unsent: 0, settle });
    queues.set(keyId, queue);
    waiting += 1;
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

  /** Begins the first trace that waits of a key, where it may. */
  async function startNext(keyId: string): Promise<void> {
    const first = queues.get(keyId)?.[0];
    if (first === undefined || starting.has(keyId)) return;
    starting.add(keyId);
    const slot = await choose(first);
    starting.delete(keyId);
    // Its time may have been over meanwhile.
    const isThere = queues.get(keyId)?.[0] === first;
    if (typeof slot !== "string") {
      if (isThere) {
        leave(first);
        run(first, slot);
      } else slots.give(slot);
      // The next one finds its key busy, until this one is answered.
    } else if (isThere && slot !== "busy") {
      leave(first);
      first.settle(slot);
      void startNext(keyId);
    }
    lookLater();
  }

  async function choose({ call, keyId, fingerprint, deadlineMs }: Waiting): Promise<TraceSlot | Unanswered> {
    const refused = whyNot(call, keyId);
    if (refused !== undefined) return refused;
    const urls = pool.healthy().map(({ url }) => url);
    const lifetimeMs = Math.ceil(Math.max(0, deadlineMs - monotonicMs())) + lifetimeMoreMs;
    return slots.take({ keyId, fingerprint, urls, spared, lifetimeMs });
  }

  function run(one: Waiting, slot: TraceSlot): void {
    const { call, keyId, options, deadlineMs, settle } = one;
    const target = pool.healthy().find(({ url }) => url === slot.url)?.index;
    const timeoutMs = deadlineMs - monotonicMs();
    if (target === undefined || timeoutMs <= 0) {
      over(slot, keyId);
      settle("unavailable");
      return;
    }
    pool.submit(call, { ...options, target, timeoutMs }, (answer) => {
      if (answer === "lost" || answer === "overdue") {
        // Nothing of this key begins before all gateways know.
        void deadly.note(call, { keyId, reason: answer }).then(() => {
          setTimeout(() => over(slot, keyId), lostMs).unref();
          settle(answer);
        });
      } else if (typeof answer !== "string" && isStreamed(answer)) {
        settle(
          untilEnd(answer, (isBroken) => (isBroken ? lostInStream(call, slot, keyId) : over(slot, keyId))),
        );
      } else if (answer === "unsent" && one.unsent < nodesInAll) {
        one.unsent += 1;
        comeBack(one);
        over(slot, keyId);
      } else {
        over(slot, keyId);
        settle(answer);
      }
    });
  }

  /** Its validator was not there: it is the first of its key again. */
  function comeBack(one: Waiting): void {
    queues.set(one.keyId, [one, ...(queues.get(one.keyId) ?? [])]);
    waiting += 1;
  }

  /** Its client is told by the connection that breaks. */
  function lostInStream(call: CallToForward, slot: TraceSlot, keyId: string): void {
    void deadly.note(call, { keyId, reason: "lost in its answer" }).then(() => over(slot, keyId));
  }

  function over(slot: TraceSlot, keyId: string): void {
    slots.give(slot);
    // Behind those of other keys, which may have waited for the validator.
    const queue = queues.get(keyId);
    if (queue !== undefined) {
      queues.delete(keyId);
      queues.set(keyId, queue);
    }
    startAll();
  }

  function startAll(): void {
    for (const keyId of [...queues.keys()]) void startNext(keyId);
  }

  function leave(one: Waiting): void {
    const queue = queues.get(one.keyId);
    if (queue?.[0] !== one) return;
    queue.shift();
    waiting -= 1;
    if (queue.length === 0) queues.delete(one.keyId);
  }

  function lookLater(): void {
    if (waiting === 0 || timer !== undefined || stopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      dropLate();
      startAll();
      lookLater();
    }, lookEveryMs).unref();
  }

  function dropLate(): void {
    const nowMs = monotonicMs();
    for (const [keyId, queue] of queues) {
      const late = queue.filter(({ deadlineMs }) => deadlineMs <= nowMs);
      if (late.length === 0) continue;
      waiting -= late.length;
      const left = queue.filter(({ deadlineMs }) => deadlineMs > nowMs);
      if (left.length === 0) queues.delete(keyId);
      else queues.set(keyId, left);
      for (const { settle } of late) settle("busy");
    }
  }

  return {
    submit,
    stats: () => ({ running: slots.running(), waiting }),
    /** Why no trace is run at the moment, in words for people; undefined where they are. */
    problem(): string | undefined {
      const healthy = pool.healthy().length;
      return healthy > spared ? undefined : `no traces: ${healthy} healthy of ${nodesInAll}`;
    },
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      for (const queue of queues.values()) for (const { settle } of queue) settle("unavailable");
      queues.clear();
      waiting = 0;
    },
  };
}

/** The same stream, whose end is told, once. */
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
