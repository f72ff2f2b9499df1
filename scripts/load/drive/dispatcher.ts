import type { Transport } from "../http/transport.ts";
import { judge } from "../judge.ts";
import type { Recorder } from "../record/recorder.ts";
import type { LoadRequest, Outcome } from "../request.ts";
import { createFifo } from "./fifo.ts";

export type Dispatcher = {
  /** Sends a request over a free connection, or as soon as there is one; latency counts from `intendedMs`. Never rejects. */
  request(request: LoadRequest, intendedMs: number): Promise<Outcome>;
  /** Gives up requests that have waited for a connection for longer than the timeout. */
  expire(): void;
  /** Gives up all that waits, now and from now on. */
  abandonQueue(): void;
  queued(): number;
};

type Waiting = {
  request: LoadRequest;
  intendedMs: number;
  sinceMs: number;
  resolve: (outcome: Outcome) => void;
};

const notSent: Outcome = { ok: false, faults: [], wasNotSent: true };

/** Requests wait here for a connection in the order in which they were due; every one of them ends in the recorder. */
export function createDispatcher({
  transport,
  recorder,
  now,
  timeoutMs,
}: {
  transport: Transport;
  recorder: Recorder;
  now: () => number;
  timeoutMs: number;
}): Dispatcher {
  const queue = createFifo<Waiting>();
  let isAbandoned = false;

  function send({ request, intendedMs, sinceMs, resolve }: Waiting): void {
    const sentAtMs = now();
    recorder.sent(sentAtMs - sinceMs);
    transport.send(request.body, (reply) => {
      const endedAtMs = now();
      const { faults, results } = judge(request, reply);
      recorder.ended({
        request,
        faults,
        latencyMs: endedAtMs - intendedMs,
        serviceMs: endedAtMs - sentAtMs,
        wasCutOff: reply.kind === "cut off",
      });
      resolve(
        faults.length === 0 && results !== undefined
          ? { ok: true, results }
          : { ok: false, faults, wasNotSent: false },
      );
      sendWaiting();
    });
  }

  function sendWaiting(): void {
    while (transport.free() > 0) {
      const next = queue.shift();
      if (next === undefined) return;
      send(next);
    }
  }

  return {
    request(request, intendedMs) {
      return new Promise((resolve) => {
        const waiting = { request, intendedMs, sinceMs: now(), resolve };
        if (isAbandoned) cutOff(waiting);
        else if (transport.free() > 0 && queue.size() === 0) send(waiting);
        else queue.push(waiting);
      });
    },
    expire() {
      const nowMs = now();
      for (;;) {
        const first = queue.first();
        if (first === undefined || nowMs - first.sinceMs < timeoutMs) return;
        queue.shift();
        recorder.notSent({
          label: first.request.label,
          tag: first.request.tag,
          calls: first.request.calls.length,
          why: "no free connection",
          latencyMs: nowMs - first.intendedMs,
        });
        first.resolve(notSent);
      }
    },
    abandonQueue() {
      isAbandoned = true;
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) cutOff(next);
    },
    queued: () => queue.size(),
  };

  function cutOff({ request, resolve }: Waiting): void {
    recorder.cutOff(request.calls.length);
    resolve(notSent);
  }
}
