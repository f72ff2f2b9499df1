import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Teardown } from "../../../../../scripts/processes/teardown.ts";

export type Received = { headers: IncomingHttpHeaders; body: string; path: string };

export type Answering = (response: Parameters<RequestListener>[1], received: Received) => void;

/** A merchant's server, which keeps what it gets and answers as it is told: 204 at first. */
export async function startReceiver(t: Teardown, { host = "127.0.0.1", port = 0 } = {}) {
  const received: Received[] = [];
  let answer: Answering = (response) => response.writeHead(204).end();
  const open = { now: 0, most: 0, connections: 0 };
  const server = createServer((request, response) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    response.once("close", () => {
      open.now -= 1;
    });
    void text(request).then(
      (body) => {
        const got = { headers: request.headers, body, path: request.url ?? "" };
        received.push(got);
        answer(response, got);
      },
      () => {},
    );
  });
  server.on("connection", () => {
    open.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = z.object({ port: z.number() }).parse(server.address());
  return {
    received,
    open,
    port: address.port,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/hook`,
    answers(next: Answering): void {
      answer = next;
    },
  };
}
