import { open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";

/** Of a long file only its end is read. */
const tailBytesMax = 4 * 1024 * 1024;
const pollMs = 200;
const chunkBytes = 64 * 1024;

/** The last lines of a file, and with `follow` those that are added until `signal` is aborted. Nothing where there is no file. */
export async function followFile({
  file,
  linesMax,
  follow,
  signal,
  onLine,
}: {
  file: string;
  linesMax: number;
  follow: boolean;
  signal: AbortSignal;
  onLine: (line: string) => void;
}): Promise<void> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return;
  try {
    const { size } = await handle.stat();
    let position = Math.max(0, size - tailBytesMax);
    const decoder = new StringDecoder("utf8");
    const chunk = Buffer.alloc(chunkBytes);
    let rest = "";
    /** All complete lines from `position` to the file's end. */
    const readLines = async (): Promise<string[]> => {
      const lines: string[] = [];
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
        if (bytesRead === 0) return lines;
        position += bytesRead;
        const parts = (rest + decoder.write(chunk.subarray(0, bytesRead))).split("\n");
        rest = parts.pop() ?? "";
        lines.push(...parts);
      }
    };
    for (const line of (await readLines()).slice(-linesMax)) onLine(line);
    while (follow && !signal.aborted) {
      await sleep(pollMs, undefined, { signal }).catch(() => {});
      for (const line of await readLines()) onLine(line);
    }
  } finally {
    await handle.close();
  }
}
