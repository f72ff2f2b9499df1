import type { BodyRead } from "./exchange.ts";
import type { HttpResponse } from "./uws.ts";

/** Joins a body's pieces until its end, a limit, or the client's leaving. To be called before the first `await`. */
export function collectBody({
  res,
  bodyBytesMax,
  bodyTimeoutMs,
  onAbort,
}: {
  res: HttpResponse;
  bodyBytesMax: number;
  bodyTimeoutMs: number;
  onAbort: (listener: () => void) => void;
}): Promise<BodyRead> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let timer: NodeJS.Timeout | undefined;
    let settled = false;
    const settle = (read: BodyRead) => {
      settled = true;
      chunks = [];
      clearTimeout(timer);
      resolve(read);
    };
    onAbort(() => settle("aborted"));
    res.onData((chunk, isLast) => {
      if (settled) return;
      bytes += chunk.byteLength;
      if (bytes > bodyBytesMax) return settle("too large");
      // The library takes the memory back when this callback returns, hence a copy.
      const copy = Buffer.from(Buffer.from(chunk));
      if (isLast) return settle(chunks.length === 0 ? copy : Buffer.concat([...chunks, copy], bytes));
      chunks.push(copy);
      timer ??= setTimeout(() => settle("too slow"), bodyTimeoutMs);
    });
  });
}
