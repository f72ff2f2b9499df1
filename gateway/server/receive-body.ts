import { type ClientAddress, limitAddress } from "../../lib/http-service/client-address.ts";
import type { BodyBudget } from "./body-budget.ts";
import { type BodyIntake, createBodyIntake } from "./body-intake.ts";
import type { ChunkedRequest } from "./chunked-request.ts";
import type { BodyLimits, Exchange, RequestHead } from "./exchange.ts";
import type { HttpConnection } from "./http-connections.ts";

/** A request's body: an exchange for the handler, and the events that the server reports. */
export type ReceivedBody = Exchange & {
  /** The handler has returned: the library takes the first piece's memory back. */
  handled(): void;
  /** The client is gone. */
  abort(): void;
  /** The answer goes out. True if the body has not ended; with `closeAtEnd` the connection closes when it has. */
  leave(options: { closeAtEnd: boolean }): boolean;
};

type Received = {
  head: RequestHead;
  connection: HttpConnection;
  budget: BodyBudget;
  clientAddress: ClientAddress;
};

/**
 * A body that comes in one piece with its head, as nearly all do. It is copied only if it has to wait for its key. It is one
 * object with one function for each task: allocations are a good part of a request's cost.
 */
export function receiveWhole(
  { head, connection, budget, clientAddress }: Received,
  chunk: ArrayBuffer,
): ReceivedBody {
  let isHandled = false;
  let intake: BodyIntake | undefined;
  return {
    head,
    arrivedBody() {
      if (intake !== undefined) return intake.whole();
      return isHandled ? undefined : new Uint8Array(chunk);
    },
    hold(limits) {
      intake = createIntake({ head, connection, budget, clientAddress }, limits);
      intake.push(chunk, true);
    },
    readBody(limits, keyId, done) {
      if (intake !== undefined) intake.give(keyId, done);
      else done(chunk.byteLength > limits.bodyBytesMax ? "too large" : new Uint8Array(chunk));
    },
    prove: connection.prove,
    peerAddress: connection.peerAddress,
    handled() {
      isHandled = true;
    },
    abort() {
      intake?.abort();
    },
    leave() {
      intake?.abandon();
      intake = undefined;
      return false;
    },
  };
}

/** A body that comes in pieces, or without a known end. */
export function receivePieces(
  received: Received,
  {
    first,
    chunked,
    droppedBytesMax,
  }: {
    /** The first piece; undefined if `chunked` brings all of them. */
    first: ArrayBuffer | undefined;
    chunked: ChunkedRequest | undefined;
    droppedBytesMax: number;
  },
): ReceivedBody {
  const { head, connection } = received;
  let hasEnded = false;
  let closesAtEnd = false;
  let droppedBytes = 0;
  let intake: BodyIntake | undefined;

  function takeRest(chunk: ArrayBuffer, isLast: boolean): void {
    hasEnded = isLast;
    if (intake === undefined) droppedBytes += chunk.byteLength;
    else intake.push(chunk, isLast);
    if (droppedBytes > droppedBytesMax || (closesAtEnd && isLast)) connection.close();
  }
  if (chunked === undefined) connection.onRest = takeRest;
  else {
    chunked.onData(takeRest);
    chunked.onStall(() => intake?.stall());
  }

  function keep(limits: BodyLimits): BodyIntake {
    if (intake !== undefined) return intake;
    intake = createIntake(received, limits);
    if (first !== undefined) intake.push(first, false);
    return intake;
  }

  return {
    head,
    arrivedBody: () => intake?.whole(),
    hold(limits) {
      keep(limits);
    },
    readBody(limits, keyId, done) {
      keep(limits).give(keyId, done);
    },
    prove: connection.prove,
    peerAddress: connection.peerAddress,
    handled() {},
    abort: () => intake?.abort(),
    leave({ closeAtEnd }) {
      closesAtEnd = closeAtEnd && !hasEnded;
      intake?.abandon();
      intake = undefined;
      return !hasEnded;
    },
  };
}

function createIntake({ head, connection, budget, clientAddress }: Received, limits: BodyLimits): BodyIntake {
  const peer = connection.peerAddress();
  const address = limitAddress(clientAddress.of({ peer, forwardedFor: head.forwardedFor }));
  return createBodyIntake({ budget, address, limits });
}
