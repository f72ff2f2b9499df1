import type { CallToForward } from "../methods/call.ts";
import type { CallOptions, Settle } from "../upstream/upstream-result.ts";

/** A trace that waits for its turn. */
export type WaitingTrace = {
  call: CallToForward;
  fingerprint: string;
  keyId: string;
  options: CallOptions;
  deadlineMs: number;
  /** How often it was sent to a validator and did not reach it. */
  unsent: number;
  settle: Settle;
};

export type TraceQueue = ReturnType<typeof createTraceQueue>;

/** Traces that wait, by key: the many of one key wait behind each other and not before another key's. */
export function createTraceQueue() {
  const queues = new Map<string, WaitingTrace[]>();
  let count = 0;

  return {
    count: () => count,
    countOf: (keyId: string) => queues.get(keyId)?.length ?? 0,
    /** Keys with waiting traces, in the order of their turns. */
    keys: () => [...queues.keys()],
    first: (keyId: string) => queues.get(keyId)?.[0],

    push(trace: WaitingTrace): void {
      const queue = queues.get(trace.keyId);
      if (queue === undefined) queues.set(trace.keyId, [trace]);
      else queue.push(trace);
      count += 1;
    },

    /** Puts a trace back as the first of its key. */
    putBack(trace: WaitingTrace): void {
      queues.set(trace.keyId, [trace, ...(queues.get(trace.keyId) ?? [])]);
      count += 1;
    },

    /** Takes out the first trace of its key, where it is that still. */
    takeOut(trace: WaitingTrace): void {
      const queue = queues.get(trace.keyId);
      if (queue?.[0] !== trace) return;
      queue.shift();
      count -= 1;
      if (queue.length === 0) queues.delete(trace.keyId);
    },

    /** The key has had its turn: it comes behind the other keys, which may have waited for the validator. */
    endTurn(keyId: string): void {
      const queue = queues.get(keyId);
      if (queue === undefined) return;
      queues.delete(keyId);
      queues.set(keyId, queue);
    },

    /** Takes out the traces whose time is over. */
    takeLate(nowMs: number): WaitingTrace[] {
      const all: WaitingTrace[] = [];
      for (const [keyId, queue] of queues) {
        const late = queue.filter(({ deadlineMs }) => deadlineMs <= nowMs);
        if (late.length === 0) continue;
        all.push(...late);
        const left = queue.filter(({ deadlineMs }) => deadlineMs > nowMs);
        if (left.length === 0) queues.delete(keyId);
        else queues.set(keyId, left);
      }
      count -= all.length;
      return all;
    },

    drain(): WaitingTrace[] {
      const all = [...queues.values()].flat();
      queues.clear();
      count = 0;
      return all;
    },
  };
}
