import type { Admitted, Upgrade } from "../upgrade-pipeline.ts";
import type { Session, Wire } from "../websocket/session.ts";
import type { WebSocketSettings } from "../websocket/web-socket-settings.ts";
import { readHead } from "./read-head.ts";
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from "./uws.ts";
import { isStream, writeReply } from "./write-reply.ts";

/** What the library keeps for each socket. */
type SocketData = { admitted: Admitted; session: Session | undefined };

/**
 * Messages up to so many times what is allowed are taken in, to be answered with close code 1009. Of a longer one the
 * library drops the connection without a close frame, as it does with one that breaks RFC 6455 (a mask missing, a wrong
 * opcode, text that is no UTF-8).
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
  return {
    maxPayloadLength: oversizeFactor * settings.messageBytesMax,
    idleTimeout: settings.idleTimeoutSeconds,
    sendPingsAutomatically: true,
    // What may wait is counted by the session, which says why it closes.
    maxBackpressure: 0,
    upgrade(res, req, context) {
      if (!asksForWebSocket(req)) req.setYield(true);
      else answerUpgrade({ res, req, context, upgrade });
    },
    open(socket) {
      const data = socket.getUserData();
      data.session = data.admitted.admission.open(createWire(socket));
    },
    message(socket, message) {
      // The library takes the memory back when this callback returns, hence a copy.
      socket.getUserData().session?.message(Buffer.from(Buffer.from(message)));
    },
    ping: (socket) => socket.getUserData().session?.control(),
    pong: (socket) => socket.getUserData().session?.control(),
    close(socket) {
      socket.getUserData().session?.closed();
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
}: {
  res: HttpResponse;
  req: HttpRequest;
  context: us_socket_context_t;
  upgrade: Upgrade;
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
      else {
        const data: SocketData = { admitted: outcome, session: undefined };
        res.cork(() => res.upgrade(data, socketKey, outcome.subprotocol, extensions, context));
      }
    } else if (!aborted) {
      const body = isStream(outcome.body) ? undefined : outcome.body;
      writeReply({ res, reply: outcome, body, close: true, isHead: false, finish: () => {} });
    }
  });
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
