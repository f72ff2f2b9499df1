import t from "tap";
import { createHttpConnections } from "../../../../gateway/server/http-connections.ts";
import {
  App,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "../../../../gateway/server/uws.ts";
import { webSocketRoute } from "../../../../gateway/server/web-socket-route.ts";
import type { Session } from "../../../../gateway/server/websocket/session.ts";
import type { Wire } from "../../../../gateway/server/websocket/session-sender.ts";
import { webSocketSettingsSchema } from "../../../../gateway/server/websocket/web-socket-settings.ts";
import { openRawWebSocket } from "../../../helpers/raw-web-socket.ts";
import { waitFor } from "../../../helpers/wait-for.ts";

/** As long as sessions were opened within the library's cork, about seven of so many sockets were closed at once. */
const socketsCount = 1000;

t.test("a socket whose upgrade had to wait stays open, whatever memory its session takes", async (t) => {
  const kept: Uint8Array[] = [];
  let closed = 0;

  /** Takes memory of every size that the upgrade may have freed, with the bit that stands for "close" set. */
  function openSession(wire: Wire): Session {
    if (kept.length > 3000) kept.length = 0;
    for (let bytes = 16; bytes < 256; bytes += 8)
      kept.push(new Uint8Array(new ArrayBuffer(bytes)).fill(0x10));
    return {
      message: (bytes) => wire.send(bytes),
      control() {},
      drained() {},
      closed() {},
      end() {},
      stop() {},
    };
  }

  const connections = createHttpConnections({
    slots: { take: () => ({ prove() {}, leave() {} }) },
  });
  const route = webSocketRoute({
    arrived: connections.arrived,
    refuse: () => ({ status: 400, headers: {}, body: undefined }),
    settings: webSocketSettingsSchema.parse({}),
    readers: { watch: () => () => {} },
    async upgrade() {
      // Clients go while this is being decided.
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { subprotocol: "", admission: { open: openSession, giveBack() {} } };
    },
    onClosed() {
      closed += 1;
    },
  });
  const listening = await new Promise<us_listen_socket>((resolve, reject) => {
    const follow = (res: HttpResponse, opened: number) => {
      if (opened > 0) connections.opened(res);
    };
    const app = App().filter(follow).ws("/*", route);
    app.listen("127.0.0.1", 0, (socket) =>
      socket === false ? reject(new Error("no port")) : resolve(socket),
    );
  });
  t.teardown(() => us_listen_socket_close(listening));

  let answered = 0;
  for (let opened = 0; opened < socketsCount; opened += 1) {
    const socket = await openRawWebSocket(t, us_socket_local_port(listening));
    socket.send("hello");
    const frame = await socket.next().catch(() => undefined);
    if (frame?.payload.toString() === "hello") answered += 1;
    socket.end();
  }
  t.equal(answered, socketsCount);
  await waitFor("all sockets are closed", () => closed >= socketsCount);
});
