import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A longer line is cut: a child that never ends its line must not fill our memory. */
const lineCharsMax = 64 * 1024;

/** Calls `onLine` for each line of a stream, also for a last line without an end. Resolves when the stream closes. */
export function readLines({
  stream,
  onLine,
}: {
  stream: Readable;
  onLine: (line: string) => void;
}): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    while (rest.length > lineCharsMax) {
      onLine(rest.slice(0, lineCharsMax));
      rest = rest.slice(lineCharsMax);
    }
  });
  return new Promise((resolve) => {
    stream.once("close", () => {
      if (rest !== "") onLine(rest);
      resolve();
    });
    // A broken pipe emits "close" as well.
    stream.once("error", () => {});
  });
}
