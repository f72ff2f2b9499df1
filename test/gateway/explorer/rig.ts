import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { GatewayConfig } from "../../../gateway/config.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { coreKey, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";

export type ApiRequest = {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
};

export type ApiStandIn = {
  url: string;
  requests: ApiRequest[];
  /** Answers that have begun and not ended, as the API sees them. */
  open(): number;
  answerWith(answer: (response: ServerResponse, asked: ApiRequest) => void): void;
  stop(): Promise<void>;
};

/** An API that answers as a test says, and keeps what it was asked. */
export async function startApiStandIn(t: Teardown): Promise<ApiStandIn> {
  const requests: ApiRequest[] = [];
  const sockets = new Set<Socket>();
  let open = 0;
  let answer = (response: ServerResponse, _asked: ApiRequest): void =>
    void response.setHeader("Content-Type", "text/html; charset=utf-8").end("<h1>a page</h1>");
  const server = createServer(async (incoming, response) => {
    open += 1;
    response.once("close", () => (open -= 1));
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = "", url = "", headers } = incoming;
    const asked = { method, url, headers, body: Buffer.concat(chunks).toString() };
    requests.push(asked);
    answer(response, asked);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.teardown(stop);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    open: () => open,
    answerWith(next) {
      answer = next;
    },
    stop,
  };
}

/** A gateway with an API stand-in behind it. */
export async function startExplorerGateway(
  t: Teardown,
  change: (config: GatewayConfig) => GatewayConfig = (config) => config,
) {
  const [redis, validator, api] = await Promise.all([
    startRedis(t),
    startStubValidator(t),
    startApiStandIn(t),
  ]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => change({ ...config, explorerUrl: api.url }),
  });
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    ask(gateway.port, { path, method, headers: { "X-API-Key": coreKey, ...headers } });
  return { redis, validator, api, gateway, get };
}

export type Got = { status: number; headers: IncomingMessage["headers"]; body: string; isWhole: boolean };

/** One request on a connection of its own, with the path as it is: fetch would mend it, and follow what it is sent to. */
export async function ask(
  port: number,
  asked: { path: string; method?: string; headers?: Record<string, string>; body?: string },
): Promise<Got> {
  const incoming = await begin(port, asked);
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("error", () => {});
  await new Promise((resolve) => incoming.once("close", resolve));
  const { statusCode: status = 0, headers, complete: isWhole } = incoming;
  return { status, headers, body: Buffer.concat(chunks).toString(), isWhole };
}

/** The answer when its head has come; whoever begins it reads it, or destroys it. */
export async function begin(
  port: number,
  {
    path,
    method = "GET",
    headers = {},
    body = "",
  }: { path: string; method?: string; headers?: Record<string, string>; body?: string },
): Promise<IncomingMessage> {
  const outgoing = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
  outgoing.on("error", () => {});
  outgoing.end(body);
  const [incoming]: IncomingMessage[] = await once(outgoing, "response");
  if (incoming === undefined) throw new Error("no answer came");
  return incoming;
}
