import type { Admitted, Upgrade } from "../upgrade-pipeline.ts";
import type { Session, Wire } from "../websocket/session.ts";
import type { WebSocketSettings } from "../websocket/web-socket-settings.ts";
import { readHead } from "./read-head.ts";
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from "./uws.ts";
import { isStream, writeReply } from "./write-reply.ts";

/** What the library keeps for each socket. */
type SocketData = { place: Place };
type Place = { session: Session | undefined; isClosed: boolean };

/**
 * Messages up to so many times what is allowed are taken in, to be answered with close code 1009. Of a longer one the
 * library drops the connection without a close frame, as it does with one that breaks RFC 6455 (a reserved bit, a wrong
 * opcode, text that is no UTF-8). A frame without a mask it reads as if it had one, so it comes out as no JSON.
 */
const oversizeFactor = 16;

/** WebSocket over uWebSockets.js: what `app.ws` takes. `onClosed` is called once for each socket that was opened. */
export function webSocketRoute({
  upgrade,
  settings,
  onClosed,
}: {
  upgrade: Upgrade;
  settings: WebSocketSettings;
  onClosed: () => void;
}): WebSocketBehavior<SocketData> {
  const opened: WebSocket<SocketData>[] = [];
  // See `finishUpgrade`: a built-in function need not be compiled when it is called for the first time.
  const open: (socket: WebSocket<SocketData>) => void = opened.push.bind(opened);
  return {
    maxPayloadLength: oversizeFactor * settings.messageBytesMax,
    idleTimeout: settings.idleTimeoutSeconds,
    sendPingsAutomatically: true,
    // What may wait is counted by the session, which says why it closes.
    maxBackpressure: 0,
    upgrade(res, req, context) {
      if (!asksForWebSocket(req)) req.setYield(true);
      else answerUpgrade({ res, req, context, upgrade, opened });
    },
    open,
    message(socket, message) {
      // The library takes the memory back when this callback returns, hence a copy.
      socket.getUserData().place.session?.message(Buffer.from(message.slice(0)));
    },
    ping: (socket) => socket.getUserData().place.session?.control(),
    pong: (socket) => socket.getUserData().place.session?.control(),
    close(socket) {
      const { place } = socket.getUserData();
      place.isClosed = true;
      place.session?.closed();
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

function answerUpgrade({
  res,
  req,
  context,
  upgrade,
  opened,
}: {
  res: HttpResponse;
  req: HttpRequest;
  context: us_socket_context_t;
  upgrade: Upgrade;
  /** The library's `open` puts the socket here. */
  opened: WebSocket<SocketData>[];
}): void {
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  const socketKey = req.getHeader("sec-websocket-key");
  const extensions = req.getHeader("sec-websocket-extensions");
  const head = {
    ...readHead(req),
    webSocketVersion: joinFields(req, "sec-websocket-version"),
    webSocketProtocols: joinFields(req, "sec-websocket-protocol"),
  };
  const peerAddress = () => (aborted ? "" : Buffer.from(res.getRemoteAddressAsText()).toString());
  upgrade({ head, peerAddress }).then((outcome) => {
    if ("admission" in outcome) {
      if (aborted) outcome.admission.giveBack();
      else finishUpgrade(outcome);
    } else if (!aborted) {
      const body = isStream(outcome.body) ? undefined : outcome.body;
      writeReply({ res, reply: outcome, body, close: true, isHead: false, finish: () => {} });
    }
  });

  /**
   * Where the upgrade came later than its request, the library's `cork` looks at memory that the upgrade has freed, and
   * closes the socket without a word where a certain bit there has been written since (uWebSockets pull request 1929).
   * So nothing that takes memory may happen inside it: the session is opened after it.
   */
  function finishUpgrade({ admission, subprotocol }: Admitted): void {
    const place: Place = { session: undefined, isClosed: false };
    res.cork(() => res.upgrade({ place }, socketKey, subprotocol, extensions, context));
    const socket = opened.pop();
    if (socket === undefined || place.isClosed) admission.giveBack();
    else place.session = admission.open(createWire(socket));
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

function createWire(socket: WebSocket<SocketData>): Wire {
  return {
    send(message) {
      socket.send(message);
    },
    cork(write) {
      socket.cork(write);
    },
    waitingBytes: () => socket.getBufferedAmount(),
    end({ code, reason }) {
      socket.end(code, reason);
    },
  };
}
