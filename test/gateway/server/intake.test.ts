import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import type { GatewayConfig } from "../../../gateway/config.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { coreKey, type GatewayUnderTest, qaKey, startGateway } from "../../helpers/gateway.ts";
import { rawPost, rawRequest } from "../../helpers/raw-http.ts";
import { openRawWebSocket } from "../../helpers/raw-web-socket.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const call = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}';
const mebibyte = 1024 * 1024;

/** The head of a request whose body is never finished. */
const half = (key: string, bytes = 1000) =>
  rawPost({ key, body: "", headers: { "Content-Length": String(bytes) } });

async function startRig(t: Test, change: (config: GatewayConfig) => GatewayConfig) {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [stub.url], change });
  // Both keys are in memory, as they are in a gateway that serves.
  for (const key of [coreKey, qaKey]) t.equal((await gateway.post(call, { key })).status, 200);
  return gateway;
}

type Client = { socket: Socket; text: () => string; isClosed: () => boolean };

/** A connection that stays open until the test ends or the gateway closes it. */
async function open(t: Test, port: number, sent: string | Uint8Array, from = "127.0.0.1"): Promise<Client> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  let text = "";
  let isClosed = false;
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  t.teardown(() => socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  if (sent.length > 0) socket.write(sent);
  return { socket, text: () => text, isClosed: () => isClosed };
}

async function openMany(
  t: Test,
  count: number,
  port: number,
  sent: string | Uint8Array,
  from?: string,
): Promise<Client[]> {
  const clients: Client[] = [];
  for (let index = 0; index < count; index += 1) clients.push(await open(t, port, sent, from));
  return clients;
}

async function metric({ opsUrl }: GatewayUnderTest, name: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

const closedOf = (clients: readonly Client[]) => clients.filter(({ isClosed }) => isClosed()).length;

t.test("half-sent requests take nobody's place among those that are carried out", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    limits: { ...config.limits, requestsInFlightMax: 10 },
  }));
  const strangers = await openMany(t, 40, gateway.port, half(""));
  const unknown = await openMany(t, 40, gateway.port, half("an-unknown-key-of-somebody"));
  const owners = await openMany(t, 40, gateway.port, half(qaKey));
  await waitFor("each stranger is refused", () =>
    [...strangers, ...unknown].every(({ text }) => text().includes("\r\n\r\n{")),
  );
  for (const { text } of [...strangers, ...unknown]) {
    t.match(text(), /^HTTP\/1\.1 401 /, "told at once, without its body");
    t.match(text(), /\r\nConnection: close\r\n/);
    t.match(text(), '"id":null');
  }
  t.equal(await metric(gateway, "tollgate_gateway_requests_in_flight"), 0);
  t.equal(await metric(gateway, "tollgate_gateway_bodies_reading"), owners.length);
  for (const key of [coreKey, qaKey]) t.equal((await gateway.post(call, { key })).status, 200);
});

t.test("unfinished bodies without a good key cost no memory", async (t) => {
  const gateway = await startRig(t, (config) => config);
  const almost = Buffer.alloc(mebibyte - 1000, 32);
  for (const key of ["", "an-unknown-key-of-somebody"]) {
    const sent = Buffer.concat([Buffer.from(half(key, mebibyte)), almost]);
    const clients = await openMany(t, 30, gateway.port, sent);
    await waitFor("each client is told 401", () => clients.every(({ text }) => text().includes(" 401 ")));
  }
  t.equal(await metric(gateway, "tollgate_gateway_body_bytes_held"), 0);
  t.equal((await gateway.post(call)).status, 200);
});

t.test("what is still sent of a refused body is taken in up to a bound, then closed", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    bodies: { ...config.bodies, droppedBytesMax: 100_000 },
  }));
  const whole = await rawRequest(gateway.port, [half("", 50_000), { pauseMs: 50 }, "x".repeat(50_000)], {
    responses: 2,
  });
  t.equal(whole.status, 401);
  t.ok(whole.closedAfterMs !== undefined, "closed at the body's end");
  const client = await open(t, gateway.port, half("", 500_000));
  await waitFor("the client is told 401", () => client.text().includes(" 401 "));
  client.socket.write(Buffer.alloc(200_000, 32));
  await waitFor("the client connection is closed", client.isClosed);
  t.pass("closed before the body's end");
});

t.test("a key's unfinished bodies are bounded, and hurt that key only", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    bodies: { ...config.bodies, readingPerKeyMax: 5, heldBytesPerKeyMax: 2 * mebibyte },
  }));
  const body = call.padEnd(500_000);
  const honest = await open(t, gateway.port, rawPost({ key: coreKey, body }).slice(0, -100));
  const clients = await openMany(t, 20, gateway.port, half(qaKey));
  await waitFor("15 of the clients connections are closed", () => closedOf(clients) === 15);
  const refused = clients.filter(({ isClosed }) => isClosed());
  for (const { text } of refused) {
    t.match(text(), /^HTTP\/1\.1 429 /);
    t.match(text(), /\r\nRateLimit: /);
    t.match(text(), /\r\nRetry-After: 1\r\n/);
  }
  t.equal(await metric(gateway, 'tollgate_gateway_bodies_dropped_total{bound="key"}'), 15);
  t.equal(
    (await gateway.post(call, { key: qaKey })).status,
    200,
    "its whole requests are served all the same",
  );

  // By bytes: what its three hold together is more than the key may.
  const large = Buffer.concat([Buffer.from(half(qaKey, mebibyte)), Buffer.alloc(mebibyte - 1000, 32)]);
  const more = await openMany(t, 3, gateway.port, large);
  await waitFor("some connections are closed to make room", () => closedOf(more) + closedOf(clients) > 15);
  t.ok((await metric(gateway, "tollgate_gateway_body_bytes_held")) < 3 * mebibyte);
  honest.socket.write(body.slice(-100));
  await waitFor("the honest client has its answer", () => honest.text().includes('"result"'));
  t.match(honest.text(), /^HTTP\/1\.1 200 /, "another key's upload comes to its end");
});

t.test("where the process has no room, an upload wins against bodies that stand still", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    bodies: { ...config.bodies, readingMax: 10 },
  }));
  const idle = await openMany(t, 10, gateway.port, half(qaKey));
  await waitFor(
    "the gateway counts 10 of bodies reading",
    async () => (await metric(gateway, "tollgate_gateway_bodies_reading")) === 10,
  );
  const body = call.padEnd(900_000);
  const sent = rawPost({ key: coreKey, body });
  const pieces = [sent.slice(0, 300_000), { pauseMs: 50 }, sent.slice(300_000, 600_000), { pauseMs: 50 }];
  const upload = rawRequest(gateway.port, [...pieces, sent.slice(600_000)]);
  t.equal((await upload).status, 200);
  await waitFor("1 of the idle connections are closed", () => closedOf(idle) === 1);
  t.match(idle.find(({ isClosed }) => isClosed())?.text(), /^HTTP\/1\.1 503 /);
});

t.test("bodies count by the address that a trusted proxy names", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
    bodies: { ...config.bodies, readingPerAddressMax: 3 },
  }));
  const from = (address: string) =>
    rawPost({
      key: qaKey,
      body: "",
      headers: { "Content-Length": "1000", "X-Forwarded-For": address },
    });
  const others = await openMany(t, 3, gateway.port, from("192.0.2.2"));
  const many = await openMany(t, 6, gateway.port, from("192.0.2.1"));
  await waitFor("3 of the many connections are closed", () => closedOf(many) === 3);
  t.equal(closedOf(others), 0);
});

t.test("one address cannot take the connections of others, nor its own from who has a key", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    connections: { max: 1000, perAddressMax: 20 },
  }));
  const before = await metric(gateway, "tollgate_gateway_connections");
  const idle = await openMany(t, 50, gateway.port, "", "127.0.0.2");
  await waitFor("30 of the idle connections are closed", () => closedOf(idle) === 30);
  t.equal(closedOf(idle.slice(0, 30)), 30, "the oldest");
  t.equal(await metric(gateway, "tollgate_gateway_connections"), before + 20);
  const good = await open(t, gateway.port, rawPost({ key: coreKey, body: call }), "127.0.0.2");
  await waitFor("the good client has its answer", () => good.text().includes('"result"'));
  // Heads that are never finished are idle too.
  const heads = await openMany(t, 40, gateway.port, half("").slice(0, 60), "127.0.0.2");
  await waitFor("21 of the heads connections are closed", () => closedOf(heads) === 21);
  t.equal(good.isClosed(), false, "a connection that had a good key is not closed for others");
  t.equal((await gateway.post(call)).status, 200, "other addresses have their own");
});

t.test("WebSockets count too, until they close", async (t) => {
  const gateway = await startRig(t, (config) => ({
    ...config,
    trustedProxies: [],
    connections: { max: 1000, perAddressMax: 6 },
  }));
  await gateway.post(call, { headers: { Connection: "close" } });
  await waitFor(
    "the gateway counts at most 1 of connections",
    async () => (await metric(gateway, "tollgate_gateway_connections")) <= 1,
  );
  const opened = [];
  for (let index = 0; index < 5; index += 1) opened.push(await openRawWebSocket(t, gateway.port));
  await waitFor(
    "the gateway counts at least 5 of connections",
    async () => (await metric(gateway, "tollgate_gateway_connections")) >= 5,
  );
  const sixth = await open(t, gateway.port, rawPost({ key: coreKey, body: call }));
  await waitFor("the sixth is answered or closed", () => sixth.text() !== "" || sixth.isClosed());
  const seventh = await open(t, gateway.port, rawPost({ key: coreKey, body: call }));
  await waitFor("the seventh connection is closed", seventh.isClosed);
  t.equal(seventh.text(), "", "not taken: all the others have shown a good key");
  for (const socket of opened) socket.end();
  await waitFor(
    "the gateway counts at most 2 of connections",
    async () => (await metric(gateway, "tollgate_gateway_connections")) <= 2,
  );
  const eighth = await open(t, gateway.port, rawPost({ key: coreKey, body: call }));
  await waitFor("the eighth client has its answer", () => eighth.text().includes('"result"'));
});

t.test(
  "a body in chunks whose first does not come with its head is refused, and nobody else's taken for it",
  async (t) => {
    const gateway = await startRig(t, (config) => config);
    const chunked = { "Content-Length": undefined, "Transfer-Encoding": "chunked" };
    const body = call.padEnd(200_000);
    const sent = rawPost({ key: coreKey, body });
    const uploads: Client[] = [];
    for (let index = 0; index < 5; index += 1) uploads.push(await open(t, gateway.port, sent.slice(0, -100)));
    const orphans = await openMany(t, 20, gateway.port, rawPost({ key: qaKey, body: "", headers: chunked }));
    for (const { socket } of uploads) socket.write(sent.slice(-100));
    await waitFor("each orphan is closed", () => orphans.every(({ isClosed }) => isClosed()));
    for (const { text } of orphans) t.match(text(), /^(HTTP\/1\.1 400 .*Content-Length|$)/s);
    await waitFor("each upload has its answer", () =>
      uploads.every(({ text }) => text().includes('"result"')),
    );
    for (const { text } of uploads) t.match(text(), /^HTTP\/1\.1 200 /);
  },
);
