export type ChunkedRequest = {
  /** Like the library's `onData`, with one listener. `isLast` comes when nothing more of the request can be read. */
  onData: HttpBody["onData"];
  /** The body stands still before its end. Called once, instead of the end. */
  onStall(listener: () => void): void;
  /** Calls back as soon as the request may be answered. Never calls back if its connection has gone by then. */
  whenOver(answer: () => void): void;
  /** The connection is gone. */
  abort(): void;
};

export type HttpBody = { onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown };

/**
 * Makes sure that no part of a chunked body is carried out as another request (request smuggling). uWebSockets.js accepts
 * invalid chunk lengths (`g`, `;`, junk behind a blank). It takes any two bytes behind the last chunk's line for the end
 * of the body, so the rest of a trailer looks like a next request, and a chunk's extension may look like a length. This code
 * does not see those bytes, so whatever was misread must end with its connection (RFC 9112 section 11.2):
 *
 * - the answer waits for the end of the body, and then until the library has read all of the piece that the end came in.
 *   If the piece holds more, the connection ends, like every connection that sends a request before the last one's answer;
 * - after the end nothing more is read, and the answer closes the connection;
 * - a body that stands still for `stallMs` is over. That is what happens to an extension that was read as a length.
 */
export function createChunkedRequest({
  res,
  stallMs,
  heldMs,
}: {
  res: HttpBody & { pause(): unknown };
  stallMs: number;
  /** How long an answer waits for a body that goes on. */
  heldMs: number;
}): ChunkedRequest {
  let state: "open" | "over" | "gone" = "open";
  let hear: Parameters<HttpBody["onData"]>[0] | undefined;
  let hearStall = () => {};
  let answer: (() => void) | undefined;
  let heldTimer: NodeJS.Timeout | undefined;
  let isPaused = false;
  const stallTimer = setTimeout(() => {
    end();
    hearStall();
  }, stallMs);

  function pause(): void {
    if (!isPaused) res.pause();
    isPaused = true;
  }

  function end(): void {
    pause();
    clearTimeout(stallTimer);
    clearTimeout(heldTimer);
    state = "over";
    answer?.();
  }

  res.onData((chunk, isLast) => {
    if (state !== "open" || isPaused) return;
    stallTimer.refresh();
    if (!isLast) {
      hear?.(chunk, false);
      return;
    }
    clearTimeout(stallTimer);
    pause();
    setImmediate(() => {
      if (state !== "open") return;
      hear?.(new ArrayBuffer(0), true);
      end();
    });
  });

  return {
    onData(handler) {
      hear = handler;
    },
    onStall(listener) {
      hearStall = listener;
    },
    whenOver(callback) {
      if (state === "gone") return;
      if (state === "over") {
        callback();
        return;
      }
      answer = callback;
      heldTimer = setTimeout(end, heldMs);
    },
    abort() {
      state = "gone";
      clearTimeout(stallTimer);
      clearTimeout(heldTimer);
    },
  };
}
