import type { ReaderWatch } from "../answer-budget/reader-watch.ts";
import type { Reply, RequestHead } from "./exchange.ts";
import type { HttpConnection, HttpConnections } from "./http-connections.ts";
import { readHead } from "./read-head.ts";
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from "./uws.ts";
import { createOutbox } from "./websocket/outbox.ts";
import type { UpgradeHead } from "./websocket/read-offer.ts";
import type { Session } from "./websocket/session.ts";
import type { Wire } from "./websocket/session-sender.ts";
import type { Admitted, Upgrade } from "./websocket/sockets.ts";
import type { WebSocketSettings } from "./websocket/web-socket-settings.ts";
import { isStream, writeReply } from "./write-reply.ts";

/** What the library keeps for each socket. */
type SocketData = { place: Place };
type Place = {
  session: Session | undefined;
  wire: SocketWire | undefined;
  isClosed: boolean;
  connection: HttpConnection;
};

/**
 * Messages up to this many times the limit are read, so that they get close code 1009. For a longer one the library drops
 * the connection without a close frame, as it does for a frame that breaks RFC 6455 (a reserved bit, a wrong opcode,
 * text that is not UTF-8). It reads a frame without a mask as if it had one, so its text is not valid JSON.
 */
const oversizeFactor = 16;

/** WebSocket over uWebSockets.js: what `app.ws` takes. `onClosed` is called once for each socket that was opened. */
export function webSocketRoute({
  upgrade,
  refuse,
  settings,
  arrived,
  readers,
  onClosed,
}: {
  upgrade: Upgrade;
  refuse: (head: RequestHead) => Reply;
  settings: WebSocketSettings;
  arrived: HttpConnections["arrived"];
  readers: Pick<ReaderWatch, "watch">;
  onClosed: () => void;
}): WebSocketBehavior<SocketData> {
  const opened: WebSocket<SocketData>[] = [];
  // See `finishUpgrade`: a built-in function needs no compilation at its first call.
  const open: (socket: WebSocket<SocketData>) => void = opened.push.bind(opened);
  return {
    maxPayloadLength: oversizeFactor * settings.messageBytesMax,
    idleTimeout: settings.idleTimeoutSeconds,
    sendPingsAutomatically: true,
    // The session counts what may wait, because it gives a reason when it closes.
    maxBackpressure: 0,
    upgrade(res, req, context) {
      if (!asksForWebSocket(req)) {
        req.setYield(true);
        return;
      }
      const asked = readUpgrade(req);
      arrived({
        res,
        head: asked.head,
        refuse,
        begin(_arrival, connection) {
          let isGone = false;
          connection.request = (told) => {
            if (told === "gone") isGone = true;
          };
          // Not inside the listener for data: the library would go on with memory that the upgrade has freed.
          setImmediate(() => {
            if (!isGone) answerUpgrade({ res, asked, connection, context, upgrade, readers, opened });
          });
        },
      });
    },
    open,
    message(socket, message) {
      // The library takes the memory back when this callback returns, hence a copy.
      socket.getUserData().place.session?.message(Buffer.from(message.slice(0)));
    },
    drain(socket) {
      const { place } = socket.getUserData();
      place.wire?.drained();
      place.session?.drained();
    },
    ping: (socket) => socket.getUserData().place.session?.control(),
    pong: (socket) => socket.getUserData().place.session?.control(),
    close(socket) {
      const { place } = socket.getUserData();
      place.isClosed = true;
      place.wire?.closed();
      place.session?.closed();
      place.connection.ended();
      onClosed();
    },
  };
}

/** RFC 6455 section 4.2.1; the library itself looks at Sec-WebSocket-Key alone. */
function asksForWebSocket(req: HttpRequest): boolean {
  const connection = req.getHeader("connection").toLowerCase();
  return (
    req.getHeader("upgrade").toLowerCase() === "websocket" &&
    connection.split(",").some((option) => option.trim() === "upgrade")
  );
}

type AskedUpgrade = { head: UpgradeHead; socketKey: string; extensions: string };

function readUpgrade(req: HttpRequest): AskedUpgrade {
  return {
    head: {
      ...readHead(req),
      webSocketVersion: joinFields(req, "sec-websocket-version"),
      webSocketProtocols: joinFields(req, "sec-websocket-protocol"),
    },
    socketKey: req.getHeader("sec-websocket-key"),
    extensions: req.getHeader("sec-websocket-extensions"),
  };
}

function answerUpgrade({
  res,
  asked: { head, socketKey, extensions },
  connection,
  context,
  upgrade,
  readers,
  opened,
}: {
  res: HttpResponse;
  asked: AskedUpgrade;
  connection: HttpConnection;
  context: us_socket_context_t;
  upgrade: Upgrade;
  readers: Pick<ReaderWatch, "watch">;
  /** The library's `open` puts the socket here. */
  opened: WebSocket<SocketData>[];
}): void {
  let aborted = false;
  connection.request = (told) => {
    if (told === "gone") aborted = true;
  };
  const { peerAddress } = connection;
  upgrade({ head, peerAddress }).then((outcome) => {
    if ("admission" in outcome) {
      if (aborted) outcome.admission.giveBack();
      else finishUpgrade(outcome);
    } else if (!aborted) {
      const body = isStream(outcome.body) ? undefined : outcome.body;
      // Not at once, as for every answer that closes: the library still reads the piece that the request came with.
      setImmediate(() => {
        if (aborted) return;
        const finish = connection.answered;
        writeReply({ res, reply: outcome, body, close: true, isHead: false, watch: () => {}, finish });
      });
    }
  });

  /**
   * Not corked: when the upgrade comes later than its request, the library's `cork` reads memory that the upgrade has freed,
   * and may close the socket without a word (uWebSockets pull request 1929). So the answer goes out in several small pieces,
   * and the library warns on stderr (DECISIONS.md says why that stays). The session opens after the upgrade all the same.
   */
  function finishUpgrade({ admission, subprotocol }: Admitted): void {
    const place: Place = { session: undefined, wire: undefined, isClosed: false, connection };
    connection.prove();
    connection.upgraded();
    res.upgrade({ place }, socketKey, subprotocol, extensions, context);
    const socket = opened.pop();
    if (socket === undefined || place.isClosed) admission.giveBack();
    else {
      place.wire = createWire(socket, readers);
      place.session = admission.open(place.wire);
    }
  }
}

/** `getHeader` gives the first of several fields of one name. */
function joinFields(req: HttpRequest, name: string): string {
  const values: string[] = [];
  req.forEach((field, value) => {
    if (field === name) values.push(value);
  });
  return values.join(", ");
}

type SocketWire = Wire & { drained(): void; closed(): void };

function createWire(socket: WebSocket<SocketData>, readers: Pick<ReaderWatch, "watch">): SocketWire {
  const outbox = createOutbox({
    readers,
    socket: {
      send(message) {
        socket.send(message);
      },
      sendPart(part, place) {
        if (place === "first") return socket.sendFirstFragment(part) === sentAtOnce;
        if (place === "middle") return socket.sendFragment(part) === sentAtOnce;
        if (place === "last") return socket.sendLastFragment(part) === sentAtOnce;
        return socket.send(part) === sentAtOnce;
      },
      bufferedBytes: () => socket.getBufferedAmount(),
      close: () => socket.close(),
    },
  });
  return {
    send: outbox.send,
    sendLong: outbox.sendLong,
    cork(write) {
      socket.cork(write);
    },
    waitingBytes: outbox.waitingBytes,
    uncountedBytes: outbox.uncountedBytes,
    end({ code, reason }) {
      socket.end(code, reason);
    },
    drained: outbox.drained,
    closed: outbox.closed,
  };
}

/** What the library returns if it keeps nothing of a message. */
const sentAtOnce = 1;
