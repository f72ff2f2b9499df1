import type { ByteText } from "../json-rpc/answer.ts";

/**
 * A long body: its pieces in order, one character a byte, and their bytes. The pieces are never joined, so an answer that a
 * hundred callers or a hundred items of a batch share is in memory once.
 */
export type PiecedBody = { pieces: readonly ByteText[]; bytes: number };

/** The size of a chunk, which is made when the reader takes it. */
export const chunkBytes = 64 * 1024;

/** Returns a body in chunks, each made by `next`; undefined behind the last. */
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
