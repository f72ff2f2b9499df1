/** Chunk sizes with their extensions, and trailers. */
const lineBytesMax = 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Reads the lines of a chunked body, which may come in several pieces. */
export function createLineReader() {
  /** The beginning of a line whose end has not come yet. */
  let pending: Buffer | undefined;
  let line: string | undefined;

  return {
    /** The line that the last `take` has completed, without its CRLF. */
    line: () => line,
    /** Takes bytes from `at` on. Returns where to go on, or -1 where they are malformed. */
    take(bytes: Buffer, at: number): number {
      line = undefined;
      const end = bytes.indexOf(lineFeed, at);
      const part = bytes.subarray(at, end === -1 ? bytes.length : end);
      const whole = pending === undefined ? part : Buffer.concat([pending, part]);
      if (whole.length > lineBytesMax) return -1;
      if (end === -1) {
        pending = Buffer.from(whole);
        return bytes.length;
      }
      pending = undefined;
      if (whole.at(-1) !== carriageReturn) return -1;
      line = whole.toString("latin1", 0, whole.length - 1);
      return end + 1;
    },
    clear(): void {
      pending = undefined;
      line = undefined;
    },
  };
}

/** The size of a chunk from its line (RFC 9112 section 7.1); undefined for anything else. */
export function readChunkSize(line: string): number | undefined {
  const digits = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}
