import type { Readable } from "node:stream";
import type { StreamedBody } from "../server/exchange.ts";
import type { EndReason } from "./open-answers.ts";

/** Why the rest of an answer does not come. */
export type BodyFailure = "broken" | "too long" | "too slow" | "slow reader" | "ended";

export type AnswerBody = {
  /** The whole body where it has ended within `bytes`; else undefined, and `stream` goes on from its beginning. */
  whole(bytes: number): Promise<Uint8Array | BodyFailure | undefined>;
  stream(): StreamedBody;
  /**
   * Ends it from this side: events properly, since they could go on for ever, and all else as if it broke off. When the
   * gateway stops only events have to end.
   */
  end(why: EndReason): void;
};

/** A comment of an event stream (WHATWG HTML 9.2): with it the head goes out, and the browser knows that it is connected. */
const hello = Buffer.from(":\n\n");

/**
 * Passes on a body that comes in, at the pace of its reader: nothing is read while the reader has no room. Nobody is
 * believed: it has an end in bytes and in time, and so has the patience with a reader.
 */
export function createAnswerBody(
  source: Readable,
  {
    isEvents,
    bytesMax,
    timeoutMs,
    stallMsMax,
    onFailure,
  }: {
    /** An event stream, which has no end of its own. `bytesMax` does not hold for it, and its time ends it properly. */
    isEvents: boolean;
    bytesMax: number;
    timeoutMs: number;
    /** How long a reader may take nothing. */
    stallMsMax: number;
    onFailure: (why: BodyFailure) => void;
  },
): AnswerBody {
  const held: Buffer[] = [];
  let bytes = 0;
  let wholeMax = 0;
  let settle: ((body: Uint8Array | BodyFailure | undefined) => void) | undefined;
  let reader: Parameters<StreamedBody["start"]>[0] | undefined;
  let isPaused = false;
  let outcome: "end" | BodyFailure | "aborted" | undefined;
  let stalled: NodeJS.Timeout | undefined;
  const late = setTimeout(() => over(isEvents ? "end" : "too slow"), timeoutMs);

  function over(how: "end" | BodyFailure | "aborted"): void {
    if (outcome !== undefined) return;
    outcome = how;
    clearTimeout(late);
    clearTimeout(stalled);
    if (how !== "end" || isEvents) source.destroy();
    if (how !== "end" && how !== "aborted") onFailure(how);
    tell();
  }

  function tell(): void {
    if (outcome === undefined || outcome === "aborted") return;
    if (settle !== undefined) settle(outcome === "end" ? Buffer.concat(held) : outcome);
    else if (outcome === "end") reader?.onEnd();
    else reader?.onFailure();
    settle = undefined;
  }

  source.pause();
  source.on("data", (chunk: Buffer) => {
    if (outcome !== undefined) return;
    bytes += chunk.length;
    if (bytes > bytesMax && !isEvents) return over("too long");
    if (reader !== undefined) return reader.onChunk(chunk);
    held.push(chunk);
    if (bytes <= wholeMax) return;
    source.pause();
    settle?.(undefined);
    settle = undefined;
  });
  source.once("end", () => over("end"));
  // The error after a `destroy` of ours comes here as well.
  source.on("error", () => over("broken"));
  source.once("close", () => over("broken"));

  return {
    whole(max) {
      wholeMax = max;
      return new Promise((resolve) => {
        settle = resolve;
        if (outcome === undefined) source.resume();
        else tell();
      });
    },
    stream: () => ({
      first: isEvents ? hello : Buffer.concat(held.splice(0)),
      start(to) {
        reader = to;
        if (outcome !== undefined) tell();
        else if (!isPaused) source.resume();
      },
      pause() {
        isPaused = true;
        source.pause();
        clearTimeout(stalled);
        stalled = setTimeout(() => over("slow reader"), stallMsMax);
      },
      resume() {
        isPaused = false;
        clearTimeout(stalled);
        if (reader !== undefined && outcome === undefined) source.resume();
      },
      abort: () => over("aborted"),
    }),
    end(why) {
      if (isEvents) over("end");
      else if (why === "key ended") over("ended");
    },
  };
}
