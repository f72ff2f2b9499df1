import type { CallToForward } from "../methods/call.ts";
import { isStreamed, type StreamedAnswer } from "../upstream/upstream-result.ts";
import type { ValidatorPool } from "../upstream/validator-pool.ts";
import type { DeadlyCalls } from "./deadly-calls.ts";
import type { WaitingTrace } from "./trace-queue.ts";
import type { TraceSlot } from "./trace-slots.ts";

/** How long the place of a lost trace is kept: the validator comes back, and should not fall again at once. */
const lostMs = 10_000;

/** Makes the function that runs one trace in its slot, and says what its end means for the call and for the slot. */
export function createRunTrace({
  pool,
  deadly,
  nodesInAll,
  monotonicMs,
  giveBack,
  putBack,
}: {
  pool: Pick<ValidatorPool, "submit" | "healthy">;
  deadly: Pick<DeadlyCalls, "note">;
  nodesInAll: () => number;
  monotonicMs: () => number;
  giveBack: (slot: TraceSlot, keyId: string) => void;
  /** It has reached no validator and waits again. */
  putBack: (trace: WaitingTrace) => void;
}) {
  /** The client hears of it by its connection, which breaks. */
  function lostInStream(call: CallToForward, slot: TraceSlot, keyId: string): void {
    void deadly.note(call, { keyId, reason: "lost in its answer" }).then(() => giveBack(slot, keyId));
  }

  return function run(trace: WaitingTrace, slot: TraceSlot): void {
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
      } else if (result === "unsent" && trace.unsent < nodesInAll()) {
        trace.unsent += 1;
        putBack(trace);
        giveBack(slot, keyId);
      } else {
        giveBack(slot, keyId);
        settle(result);
      }
    });
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
