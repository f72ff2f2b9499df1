import { createChunks, type PiecedBody } from "../answer-budget/answer-chunks.ts";
import type { Reading } from "../answer-budget/reader-watch.ts";
import type { HttpResponse } from "./uws.ts";

/**
 * Hands a long body over as fast as the client reads it, a chunk at a time: the library holds nothing of it. With its last
 * byte the response is the library's again: touching it then throws, and a connection that should close does so at the
 * latest when the server stops.
 */
export function writePieces({
  res,
  body,
  close,
  watch,
  finish,
}: {
  res: HttpResponse;
  body: PiecedBody;
  /** The connection ends with the answer. */
  close: boolean;
  /** Watches a client that does not take all at once. */
  watch: (reading: Reading) => void;
  finish: () => void;
}): void {
  const chunks = createChunks(body);
  let chunk = chunks.next();
  /** Where the chunk begins in the body. */
  let start = 0;
  let taken = 0;

  /** Goes on behind so many bytes. False where the client has to read first. */
  function writeFrom(offset: number): boolean {
    taken = offset;
    // A piece that was not taken as a whole starts the reading again. What comes meanwhile ends the connection, but with
    // the last piece out it would be a next request.
    if (close) res.pause();
    while (chunk !== undefined) {
      const [hasRoom, isDone] = res.tryEnd(chunk.subarray(taken - start), body.bytes);
      if (isDone) {
        chunk = undefined;
        finish();
        return true;
      }
      if (!hasRoom) return false;
      start += chunk.length;
      taken = start;
      chunk = chunks.next();
    }
    return true;
  }

  let hasRoom = true;
  res.cork(() => {
    hasRoom = writeFrom(0);
  });
  if (hasRoom) return;
  res.onWritable(writeFrom);
  watch({ takenBytes: () => taken, close: () => res.close() });
}
