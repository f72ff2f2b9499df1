import type { ReceiveRoom } from "../../answer-budget/receive-budget.ts";
import { joinChunks } from "../../json-rpc/scan-source.ts";

export type ReceivedBody = ReturnType<typeof createReceivedBody>;

/** The body of one answer as it comes in over a connection, for one answer after the other. */
export function createReceivedBody(room: ReceiveRoom) {
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  /** Bytes that are taken of the room for answers that come in. */
  let counted = 0;

  return {
    /**
     * The chunk is good for this turn only, so it is copied unless it is all of the body, as nearly always. Returns how
     * many bytes have come.
     */
    add(chunk: Buffer, isLast: boolean): number {
      bytes += chunk.length;
      if (first === undefined) first = isLast ? chunk : Buffer.from(chunk);
      else if (more === undefined) more = [Buffer.from(chunk)];
      else more.push(Buffer.from(chunk));
      return bytes;
    },
    bytes: () => bytes,
    whole(): Buffer {
      if (first === undefined) return Buffer.alloc(0);
      return more === undefined ? first : joinChunks([first, ...more], bytes);
    },
    /** Counts what has come against the room. False if there is none left. */
    hold(): boolean {
      if (!room.take(bytes - counted)) return false;
      counted = bytes;
      return true;
    },
    /** Lets the bytes go: a stream has them. They stay counted. */
    drop(): void {
      first = undefined;
      more = undefined;
    },
    /** Makes it ready for the next answer. */
    clear(): void {
      first = undefined;
      more = undefined;
      bytes = 0;
      if (counted > 0) room.giveBack(counted);
      counted = 0;
    },
  };
}
