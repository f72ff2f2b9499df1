import { closeWith } from "./close-with.ts";
import type { ConnectionSlots, Slot } from "./connection-slots.ts";
import type { Reply, RequestHead } from "./exchange.ts";
import { isUnreadable } from "./read-head.ts";
import type { HttpResponse } from "./uws.ts";

/** A connection, from when it is accepted until it has closed; for a WebSocket until that has. */
export type HttpConnection = {
  /** The other end of the socket. */
  readonly peerAddress: () => string;
  /** Gets what comes of a request's body after its first piece. */
  onRest: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  /**
   * Its request, until that is answered. Gets `gone` when the client leaves, and `late` when there is no answer and the time
   * for stopping is over. (One function and no more: for two that were set for each request V8 let everything that they refer
   * to grow old, at 5 µs a request.)
   */
  request: ((told: "gone" | "late") => void) | undefined;
  /** Set where the answer closes it: another request that comes all the same is not begun. */
  isLast: boolean;
  /** A good API key came over it. */
  prove(): void;
  /** To be called when the last byte of an answer is handed to the library, before its cork ends. */
  answered(): void;
  /** The library has made a WebSocket of it: its end is told by `ended`. */
  upgraded(): void;
  ended(): void;
  /** Closes it, unless it is closed or a WebSocket. */
  close(): void;
};

/** A request whose head has come: `begin` is called with its connection and the first piece of its body. */
export type Arrival = {
  res: HttpResponse;
  head: RequestHead;
  begin(arrival: Arrival, connection: HttpConnection, chunk: ArrayBuffer, isLast: boolean): void;
  /** The reply if no piece of its body comes with its head, or the head cannot be read. */
  refuse(head: RequestHead): Reply;
};

export type HttpConnections = {
  /** To be called by the library's filter for each connection that opens. */
  opened(res: HttpResponse): void;
  /** To be called for each request, which must not be answered before its `begin`. */
  arrived(arrival: Arrival): void;
  /** Those that are open. */
  all(): Iterable<HttpConnection>;
};

/**
 * Knows each connection for as long as it lives, which the library does not offer: it tells of a connection's end without
 * saying which, and of a request without saying on which connection.
 *
 * But it has one place for each connection where the listeners for data and for its end stand, and asks for them through
 * the response that its filter is given too. So both are set when a connection opens; a request's head is put by, and the
 * listener for data, which the library calls next with the first piece of the body (an empty one where there is none),
 * says whose it is. The library takes the listener for data away after a body's last piece, and the one for the end
 * with an answer's last byte: both are set again before it can next look for them.
 *
 * Only a body in chunks can be without a first piece, where none of them came with the head. Such a request is refused and
 * its connection closed, before anything else happens: so its response is certainly still there, and no other
 * connection's data is taken for its body.
 */
export function createHttpConnections({ slots }: { slots: Pick<ConnectionSlots, "take"> }): HttpConnections {
  const open = new Set<HttpConnection>();
  const pending = createPendingArrival();
  /** Connections whose listener for data the library has taken away. */
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
      // Whoever handles it sets it, where it wants the rest.
      connection.onRest = undefined;
      // Not at once: the library goes on with the piece that it reads.
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
      // What the library took away it did not take before the listener returned; it has by now.
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

/** The request whose head has come, until the first piece of its body does. There is one at most. */
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
