import type { HttpConnection } from "../http/http-connection.ts";
import { type StreamedAnswer, type StreamReader, usualBeforeId } from "../upstream-result.ts";

export type StreamRelay = ReturnType<typeof createStreamRelay>;

/**
 * Cuts the first bytes of the answer to a lone call around the id. Undefined where the id is not where validators write it:
 * such an answer has to be read as a whole.
 */
export function cutFirstBytes(first: Buffer): { beforeId: string; afterId: Buffer } | undefined {
  const start = first.toString("latin1", 0, usualBeforeId.length + 2);
  if (start !== `${usualBeforeId}1,`) return undefined;
  // A copy: the bytes may be good for this turn only.
  return { beforeId: usualBeforeId, afterId: Buffer.from(first.subarray(usualBeforeId.length + 1)) };
}

/** Hands a long answer on as it comes. Until its reader starts it, the relay keeps what comes: at most a socket's read. */
export function createStreamRelay({
  beforeId,
  afterId,
  flow,
  now,
  onAbort,
}: {
  beforeId: string;
  afterId: Buffer;
  flow: Pick<HttpConnection, "pause" | "resume">;
  now: () => number;
  onAbort: () => void;
}) {
  let reader: StreamReader | undefined;
  let held: Buffer[] = [];
  let outcome: "open" | "ended" | "failed" | "broken" | "aborted" = "open";
  let movedAtMs = now();
  flow.pause();

  function finish(how: "ended" | "failed" | "broken"): void {
    if (outcome !== "open") return;
    outcome = how;
    if (how === "ended") reader?.onEnd();
    else reader?.onFailure(how === "broken");
  }

  const answer: StreamedAnswer = {
    beforeId,
    afterId,
    validator: "",
    start(newReader) {
      reader = newReader;
      movedAtMs = now();
      const chunks = held;
      held = [];
      for (const chunk of chunks) newReader.onChunk(chunk);
      if (outcome === "ended") newReader.onEnd();
      if (outcome === "failed" || outcome === "broken") newReader.onFailure(outcome === "broken");
      if (outcome === "open") flow.resume();
    },
    pause: () => flow.pause(),
    resume() {
      movedAtMs = now();
      if (outcome === "open") flow.resume();
    },
    abort() {
      if (outcome !== "open") return;
      outcome = "aborted";
      onAbort();
    },
  };

  return {
    answer,
    /** The bytes are good until this returns. */
    push(chunk: Buffer): void {
      movedAtMs = now();
      if (reader === undefined) held.push(Buffer.from(chunk));
      else if (outcome === "open") reader.onChunk(chunk);
    },
    end: () => finish("ended"),
    fail: () => finish("failed"),
    /** The validator broke off. */
    break: () => finish("broken"),
    /** How long nothing has come, because of the validator or the reader. */
    stalledMs: (nowMs: number) => nowMs - movedAtMs,
  };
}
