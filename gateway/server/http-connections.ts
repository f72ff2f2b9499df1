import { closeWith } from "./close-with.ts";
import type { ConnectionSlots, Slot } from "./connection-slots.ts";
import type { Reply, RequestHead } from "./exchange.ts";
import { isUnreadable } from "./read-head.ts";
import type { HttpResponse } from "./uws.ts";

/** A connection, from when it is accepted until it has closed; for a WebSocket until that has. */
export type HttpConnection = {
  /** The other end of the socket. */
  readonly peerAddress: () => string;
  /** Gets the pieces of a request's body after the first one. */
  onRest: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  /**
   * Its request, until that is answered. Gets `gone` when the client leaves, and `late` when there is no answer and the time
   * for stopping is over. (One function for both: with two for each request V8 moved all that they refer to into its old
   * generation, at 5 µs a request.)
   */
  request: ((told: "gone" | "late") => void) | undefined;
  /** The answer closes the connection: a further request on it is not begun. */
  isLast: boolean;
  /** A good API key came over it. */
  prove(): void;
  /** Call it when the library has the last byte of an answer, before its cork ends. */
  answered(): void;
  /** The library has made a WebSocket of it. Call `ended` when that ends. */
  upgraded(): void;
  ended(): void;
  /** Closes it, unless it is closed or a WebSocket. */
  close(): void;
};

/** A request whose head has come. `begin` gets its connection and the first piece of its body. */
export type Arrival = {
  res: HttpResponse;
  head: RequestHead;
  begin(arrival: Arrival, connection: HttpConnection, chunk: ArrayBuffer, isLast: boolean): void;
  /** The reply if no piece of its body comes with its head, or the head cannot be read. */
  refuse(head: RequestHead): Reply;
};

export type HttpConnections = {
  /** Call it in the library's filter for each connection that opens. */
  opened(res: HttpResponse): void;
  /** Call it for each request. The request must not be answered before its `begin`. */
  arrived(arrival: Arrival): void;
  /** Those that are open. */
  all(): Iterable<HttpConnection>;
};

/**
 * Knows each connection for as long as it lives. The library does not offer that: it reports the end of a connection without
 * saying which one, and a request without its connection.
 *
 * But the library keeps one listener for data and one for the end of each connection, and both can be set through the
 * response that its filter gets. So both are set when a connection opens. The head of a request is kept until the library
 * calls the listener for data with the first piece of the body (an empty one if there is no body): that listener knows its
 * connection. The library removes the listener for data after the last piece of a body, and the listener for the end with
 * the last byte of an answer. Both are set again before the library needs them.
 *
 * Only a body in chunks can lack a first piece, if no chunk came with the head. Such a request is refused and its
 * connection closed before anything else happens. So its response still exists, and no other connection's data is taken
 * for its body.
 */
export function createHttpConnections({ slots }: { slots: Pick<ConnectionSlots, "take"> }): HttpConnections {
  const open = new Set<HttpConnection>();
  const pending = createPendingArrival();
  /** Connections whose listener for data the library has removed. */
  const unheard: (() => void)[] = [];

  function opened(res: HttpResponse): void {
    pending.refuse({ isClosed: false });
    const peer = Buffer.from(res.getRemoteAddressAsText()).toString();
    let isHttp = true;
    let isProven = false;
    /** Pieces of a body are still to come. */
    let isMidBody = false;
    let slot: Slot | undefined;
    const connection: HttpConnection = {
      peerAddress: () => peer,
      onRest: undefined,
      request: undefined,
      isLast: false,
      prove() {
        if (isProven) return;
        isProven = true;
        slot?.prove();
      },
      answered() {
        connection.request = undefined;
        if (isHttp) res.onAborted(ended);
      },
      upgraded() {
        isHttp = false;
        connection.request = undefined;
      },
      ended: () => ended(),
      close() {
        if (isHttp) res.close();
      },
    };
    function ended(): void {
      pending.refuse({ isClosed: true });
      isHttp = false;
      open.delete(connection);
      slot?.leave();
      const { request } = connection;
      connection.request = undefined;
      connection.onRest = undefined;
      request?.("gone");
    }
    const hear = () => {
      if (isHttp) res.onData(onData);
    };
    function onData(chunk: ArrayBuffer, isLast: boolean): void {
      if (isLast) unheard.push(hear);
      const isRest = isMidBody;
      isMidBody = !isLast;
      if (isRest) {
        pending.refuse({ isClosed: false });
        connection.onRest?.(chunk, isLast);
        return;
      }
      const arrived = pending.take();
      // The handler sets it if it wants the rest.
      connection.onRest = undefined;
      // Not at once: the library goes on reading the same piece.
      if (connection.isLast) setImmediate(connection.close);
      else arrived?.begin(arrived, connection, chunk, isLast);
    }

    slot = slots.take(peer, connection.close);
    if (slot === undefined) {
      isHttp = false;
      res.close();
      return;
    }
    open.add(connection);
    res.onAborted(ended);
    hear();
  }

  return {
    opened,
    arrived(next) {
      pending.refuse({ isClosed: false });
      // The library removes a listener only after that listener has returned, so it is set again here.
      for (let hear = unheard.pop(); hear !== undefined; hear = unheard.pop()) hear();
      if (isUnreadable(next.head)) {
        closeWith(next.res, next.refuse(next.head));
        return;
      }
      pending.put(next);
    },
    all: () => open,
  };
}

/** A request whose head has come and whose body has not begun. There is one at most. */
function createPendingArrival() {
  let arrival: Arrival | undefined;

  /** Closes the connection of a request whose body has no first piece. */
  function refuse({ isClosed }: { isClosed: boolean }): void {
    if (arrival === undefined) return;
    const { res, head, refuse: replyTo } = arrival;
    arrival = undefined;
    // Nothing may be written to a connection that has closed, and this may be the one.
    if (isClosed) res.close();
    else closeWith(res, replyTo(head));
  }

  return {
    refuse,
    put(next: Arrival): void {
      arrival = next;
      if (next.head.transferEncodings === undefined) return;
      setImmediate(() => {
        if (arrival === next) refuse({ isClosed: false });
      });
    },
    take(): Arrival | undefined {
      const taken = arrival;
      arrival = undefined;
      return taken;
    },
  };
}
