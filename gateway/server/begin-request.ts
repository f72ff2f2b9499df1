import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import type { ReaderWatch } from "../answer-budget/reader-watch.ts";
import type { BodyBudget } from "./body-budget.ts";
import { createChunkedRequest } from "./chunked-request.ts";
import type { Drain } from "./drain.ts";
import type { Exchange, Reply, RequestHead, StreamedBody } from "./exchange.ts";
import type { Arrival, HttpConnection } from "./http-connections.ts";
import { receivePieces, receiveWhole } from "./receive-body.ts";
import type { HttpResponse } from "./uws.ts";
import { isStream, writeReply, writeStream } from "./write-reply.ts";

/** What all requests of a server share. */
export type RequestSettings = {
  handle: (exchange: Exchange, answer: (reply: Reply) => void) => void;
  limits: { bodyTimeoutMs: number; chunkedStallMs: number };
  budget: BodyBudget;
  clientAddress: ClientAddress;
  /** How much of an unwanted body is read before its connection is closed. */
  droppedBytesMax: number;
  /** The reply to a request that is not answered when the time for stopping is over. */
  lateReply: (head: RequestHead) => Reply;
  readers: Pick<ReaderWatch, "watch">;
};

/** Hands one request to the handler with the first piece of its body, and writes the answer. */
export function beginRequest(
  { handle, limits, budget, clientAddress, droppedBytesMax, lateReply, readers }: RequestSettings,
  drain: Drain,
  { res, head }: Arrival,
  connection: HttpConnection,
  chunk: ArrayBuffer,
  isLast: boolean,
): void {
  drain.requestBegan();
  let isGone = false;
  let isAnswered = false;
  let isFinished = false;
  const received = { head, connection, budget, clientAddress };
  const isChunked = head.transferEncodings !== undefined;
  const chunked = isChunked ? readChunks(res, connection, limits) : undefined;
  connection.isLast = isChunked;
  const body =
    chunked === undefined && isLast
      ? receiveWhole(received, chunk)
      : receivePieces(received, {
          first: chunked === undefined ? chunk : undefined,
          chunked,
          droppedBytesMax,
        });
  let stream: StreamedBody | undefined;
  let unwatch: (() => void) | undefined;
  let release: (() => void) | undefined;
  const finish = () => {
    if (isFinished) return;
    isFinished = true;
    unwatch?.();
    release?.();
    if (!isGone) connection.answered();
    drain.requestEnded();
  };
  /** `gone`: the client has left; `late`: there is no answer yet, and the time for stopping is over. */
  const respond = (told: Reply | "gone" | "late") => {
    if (told === "gone") {
      isGone = true;
      body.abort();
      chunked?.abort();
      stream?.abort();
      // An answer is in flight until its last byte is with the kernel, or the client has left.
      if (isAnswered) finish();
      return;
    }
    const reply = told === "late" ? lateReply(head) : told;
    if (isAnswered || isGone) {
      if (isStream(reply.body)) reply.body.abort();
      reply.release?.();
      if (isGone) finish();
      return;
    }
    isAnswered = true;
    release = reply.release;
    if (isStream(reply.body)) stream = reply.body;
    const close = drain.isStopping() || reply.close === true || chunked !== undefined;
    connection.isLast = close || stream !== undefined;
    const isEarly = body.leave({ closeAtEnd: !close });
    // If it were answered while the library reads, the library would take the rest of the piece for a next request.
    if (chunked !== undefined) chunked.whenOver(() => write(reply, { close, isEarly }));
    else if (close && stream === undefined) setImmediate(() => write(reply, { close, isEarly }));
    else write(reply, { close, isEarly });
  };
  function write(reply: Reply, { close, isEarly }: { close: boolean; isEarly: boolean }): void {
    if (isGone) return;
    if (isStream(reply.body)) {
      writeStream({ res, reply, body: reply.body, isGone: () => isGone, finish, linger: drain.linger });
      return;
    }
    writeReply({
      res,
      // The rest of the body is read and dropped first: the client could miss an answer that closes at once.
      reply: isEarly && !close ? { ...reply, headers: { ...reply.headers, Connection: "close" } } : reply,
      body: reply.body,
      close,
      isHead: head.method === "HEAD",
      watch(reading) {
        unwatch = readers.watch(reading);
      },
      finish,
    });
  }
  connection.request = respond;
  handle(body, respond);
  body.handled();
  chunked?.begin(chunk, isLast);
}

/** A body in chunks, which gets its pieces from the connection. */
function readChunks(res: HttpResponse, connection: HttpConnection, limits: RequestSettings["limits"]) {
  let hear: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
  const onData = (listener: typeof hear) => {
    hear = listener;
  };
  connection.onRest = (chunk, isLast) => hear(chunk, isLast);
  const chunked = createChunkedRequest({
    res: { onData, pause: () => res.pause() },
    stallMs: limits.chunkedStallMs,
    heldMs: limits.bodyTimeoutMs,
  });
  return { ...chunked, begin: (chunk: ArrayBuffer, isLast: boolean) => hear(chunk, isLast) };
}
