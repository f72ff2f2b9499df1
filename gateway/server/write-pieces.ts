import { createChunks, type PiecedBody } from "../answer-budget/answer-chunks.ts";
import type { Reading } from "../answer-budget/reader-watch.ts";
import type { HttpResponse } from "./uws.ts";

/**
 * Hands a long body over a chunk at a time, as fast as the client reads, so the library holds nothing of it. After the last
 * byte the response belongs to the library: touching it throws. A connection that should close then does so at the latest
 * when the server stops.
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

  /** Goes on behind this many bytes. False if the client has to read first. */
  function writeFrom(offset: number): boolean {
    taken = offset;
    // A piece that was not written as a whole starts the reading again. A request that comes meanwhile ends the connection.
    // After the last piece it would be the next request.
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
