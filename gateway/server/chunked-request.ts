export type ChunkedRequest = {
  /** As the library's, and only one may listen. `isLast` comes when nothing more of the request can be read. */
  onData: HttpBody["onData"];
  /** The body stands still before its end. Called once, instead of the end. */
  onStall(listener: () => void): void;
  /** Calls back as soon as the request may be answered; not at all where its connection is gone by then. */
  whenOver(answer: () => void): void;
  /** The connection is gone. */
  abort(): void;
};

export type HttpBody = { onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown };

/**
 * Keeps a request whose body comes in chunks from being the beginning of another one. uWebSockets.js takes for a
 * chunk's length what is none (`g`, `;`, junk behind a blank), and for the body's end the two bytes behind the line of
 * the last chunk, whatever they are: a trailer's other bytes are a next request to it, and a chunk's extension may be
 * a length. Nothing here sees the bytes, so whatever was misread must end with its connection (RFC 9112 section 11.2):
 *
 * - the answer waits for the end of the body, and then for the library to read the piece that it came with to its own end.
 *   More in that piece ends the connection, as it ends every one that is asked before it has answered;
 * - from the end on nothing more is read, and the answer closes the connection;
 * - a body that stands still for `stallMs` is over, which is what becomes of an extension that was taken for a length.
 */
export function createChunkedRequest({
  res,
  stallMs,
  heldMs,
}: {
  res: HttpBody & { pause(): unknown };
  stallMs: number;
  /** For how long an answer waits for a body that goes on. */
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
