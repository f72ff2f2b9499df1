import type { BodyRead } from "./exchange.ts";
import type { HttpResponse } from "./uws.ts";

/** Joins a body's pieces until its end, a limit, or the client's leaving. To be called before the handler returns. */
export function collectBody({
  res,
  bodyBytesMax,
  bodyTimeoutMs,
  onAbort,
  done,
}: {
  res: HttpResponse;
  bodyBytesMax: number;
  bodyTimeoutMs: number;
  onAbort: (listener: () => void) => void;
  done: (body: BodyRead) => void;
}): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let settled = false;
  const settle = (read: BodyRead) => {
    settled = true;
    chunks = [];
    if (timer !== undefined) clearTimeout(timer);
    done(read);
  };
  onAbort(() => {
    if (!settled) settle("aborted");
  });
  res.onData((chunk, isLast) => {
    if (settled) return;
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) return settle("too large");
    // Nearly every body comes in one piece, which is looked at before the library takes its memory back.
    if (isLast && chunks.length === 0) return settle(new Uint8Array(chunk));
    chunks.push(Buffer.from(Buffer.from(chunk)));
    if (isLast) return settle(Buffer.concat(chunks, bytes));
    timer ??= setTimeout(() => settle("too slow"), bodyTimeoutMs);
  });
}
