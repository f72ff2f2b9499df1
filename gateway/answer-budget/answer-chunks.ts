import type { ByteText } from "../json-rpc/answer.ts";

/**
 * A long body: its pieces in order, one character a byte, and how many bytes they are. They are never joined, so that an
 * answer that a hundred callers share, or a hundred items of a batch, is in memory once.
 */
export type PiecedBody = { pieces: readonly ByteText[]; bytes: number };

/** What is made of a long body at a time, as its reader takes it. */
export const chunkBytes = 64 * 1024;

/** Gives a body in chunks, each made when it is asked for; undefined behind the last. */
export function createChunks({ pieces, bytes }: PiecedBody): {
  next(): Buffer | undefined;
  leftBytes(): number;
} {
  let index = 0;
  let at = 0;
  let left = bytes;

  return {
    next() {
      if (left === 0) return undefined;
      const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, left));
      let filled = 0;
      while (filled < chunk.length) {
        const piece = pieces[index] ?? "";
        const end = Math.min(piece.length, at + chunk.length - filled);
        filled += chunk.write(piece.slice(at, end), filled, "latin1");
        at = end;
        if (at === piece.length) {
          index += 1;
          at = 0;
        }
      }
      left -= chunk.length;
      return chunk;
    },
    leftBytes: () => left,
  };
}

export function isPieced(body: object | string): body is PiecedBody {
  return typeof body === "object" && "pieces" in body;
}
