import t, { type Test } from "tap";
import type { GatewayConfig } from "../../../../gateway/config.ts";
import { echoMethod, startStubValidator } from "../../../fakes/stub-validator.ts";
import { openKeyStore } from "../../../helpers/api-keys.ts";
import { type GatewayUnderTest, startGateway } from "../../../helpers/gateway.ts";
import { opcodes, openRawWebSocket } from "../../../helpers/raw-web-socket.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { startStopwatch } from "../../../helpers/stopwatch.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { openWebSocket } from "../../../helpers/web-socket-client.ts";

const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';

t.test("limits of a socket", async (t) => {
  // Most of these wait.
  t.jobs = 4;
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const start = (
    t: Test,
    webSocket: Partial<GatewayConfig["webSocket"]>,
    more: Partial<GatewayConfig> = {},
    monotonicMs = () => performance.now(),
  ) =>
    startGateway(t, {
      redisUrl: redis.url,
      monotonicMs,
      upstreams: [validator.url],
      change: (config) => ({ ...config, ...more, webSocket: { ...config.webSocket, ...webSocket } }),
    });

  t.test(
    "more frames in a second than allowed, messages or pings, close with 1008",
    { buffered: true },
    async (t) => {
      // A clock that stands still: on a busy machine the answers of five frames take a second.
      let nowMs = performance.now();
      const gateway = await start(t, { framesPerSecondMax: 5 }, {}, () => nowMs);
      for (const opcode of [opcodes.text, opcodes.ping, opcodes.pong]) {
        const socket = await openRawWebSocket(t, gateway.port);
        for (let sent = 0; sent < 5; sent += 1) socket.send(call, { opcode });
        if (opcode !== opcodes.pong) for (let seen = 0; seen < 5; seen += 1) await socket.next();
        socket.send(call, { opcode });
        t.match(await socket.closed, { code: 1008, reason: /Too many frames in a second/ });
      }
      const patient = await openRawWebSocket(t, gateway.port);
      for (let sent = 0; sent < 5; sent += 1) patient.send(call);
      for (let seen = 0; seen < 5; seen += 1) t.equal((await patient.next()).opcode, opcodes.text);
      nowMs += 1100;
      patient.send(call);
      t.equal((await patient.next()).opcode, opcodes.text);
    },
  );

  t.test("more frames without an answer than allowed close with 1008", { buffered: true }, async (t) => {
    const silent = await startStubValidator(t, { answer: async () => undefined });
    const gateway = await startGateway(t, {
      redisUrl: redis.url,
      upstreams: [silent.url],
      change: (config) => ({ ...config, webSocket: { ...config.webSocket, framesInFlightMax: 3 } }),
    });
    const socket = await openRawWebSocket(t, gateway.port);
    for (let sent = 0; sent < 4; sent += 1) socket.send(call);
    t.match(await socket.closed, { code: 1008, reason: /waiting for their answers/ });
  });

  t.test(
    "a client that does not read is closed with 1013 when too much waits",
    { buffered: true },
    async (t) => {
      const result = "x".repeat(300_000);
      const large = await startStubValidator(t, {
        answer: (body) => `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":"${result}"}`,
      });
      const gateway = await startGateway(t, {
        redisUrl: redis.url,
        upstreams: [large.url],
        change: (config) => ({ ...config, webSocket: { ...config.webSocket, waitingBytesMax: 100_000 } }),
      });
      const socket = await openRawWebSocket(t, gateway.port);
      socket.send(call);
      t.equal(
        (await socket.nextMessage()).length,
        result.length + '{"jsonrpc":"2.0","id":1,"result":""}'.length,
      );
      socket.pause();
      // More than any kernel buffers for one connection.
      for (let sent = 0; sent < 100; sent += 1) socket.send(call);
      await waitFor(
        "the gateway counts 0 of sockets",
        async () => (await metric(gateway, "tollgate_gateway_sockets")) === 0,
      );
      socket.resume();
      t.match(await socket.closed, { code: 1013, reason: /read faster/ });
    },
  );

  t.test("a silent client is pinged, and dropped if it does not answer", { buffered: true }, async (t) => {
    const gateway = await start(t, { idleTimeoutSeconds: 8 });
    const [deaf, answering] = await Promise.all([
      openRawWebSocket(t, gateway.port),
      openWebSocket(t, gateway.url),
    ]);
    await waitFor(
      "the gateway counts 1 of sockets",
      async () => (await metric(gateway, "tollgate_gateway_sockets")) === 1,
      { withinMs: 20_000 },
    );
    await deaf.closed;
    t.equal((await deaf.next().catch(() => undefined))?.opcode, opcodes.ping);
    t.equal(await answering.call("eth_chainId"), "eth_chainId", "the one that answered pings is served");
    await answering.close();
  });

  t.test(
    "calls past the key's limit are refused one by one, with the time to wait",
    { buffered: true },
    async (t) => {
      const { create } = await openKeyStore(t, redis.url);
      const { secret } = await create({ limitPerMinute: 2 });
      const gateway = await start(t, {});
      const client = await openWebSocket(t, gateway.url, { key: secret });
      const overHttp = await gateway.post(call, { key: secret });
      t.equal(overHttp.status, 200);
      t.equal(await client.call("eth_chainId"), "eth_chainId");
      const { error } = await client.request("eth_chainId");
      t.match(error, { code: -32005, data: { code: "rate_limited", retryAfterMs: Number } });
      t.match(
        (await client.request("eth_subscribe", ["newHeads"])).error,
        { code: -32005 },
        "subscribing costs too",
      );
      t.equal(client.socket.readyState, client.socket.OPEN);
      await client.close();
    },
  );

  t.test(
    "subscriptions of a connection are counted; each is freed by its end",
    { buffered: true },
    async (t) => {
      const gateway = await start(t, { subscriptionsPerConnectionMax: 2 });
      const subscriptions = (kind: string) =>
        metric(gateway, `tollgate_gateway_subscriptions{kind="${kind}"}`);
      const client = await openWebSocket(t, gateway.url);
      const heads = await client.call("eth_subscribe", ["newHeads"]);
      await client.call("eth_subscribe", ["logs", {}]);
      t.match((await client.request("eth_subscribe", ["syncing"])).error, {
        code: -32005,
        message: /eth_unsubscribe/,
      });
      t.equal(await client.call("eth_unsubscribe", [heads]), true);
      t.match((await client.request("eth_unsubscribe", [heads])).error, { code: -32000 });
      await client.call("eth_subscribe", ["newPendingTransactions"]);
      t.same(
        await Promise.all(["newHeads", "logs", "newPendingTransactions", "syncing"].map(subscriptions)),
        [0, 1, 1, 0],
      );
      t.equal(await metric(gateway, "tollgate_gateway_sockets"), 1);
      await client.close();
      await waitFor(
        "the gateway counts 0 of sockets",
        async () => (await metric(gateway, "tollgate_gateway_sockets")) === 0,
      );
      t.same(await Promise.all(["newHeads", "logs", "newPendingTransactions"].map(subscriptions)), [0, 0, 0]);
    },
  );

  t.test("a revoked key's sockets are closed with 4401 within a second", { buffered: true }, async (t) => {
    const { store, create } = await openKeyStore(t, redis.url);
    const { secret, key } = await create();
    const gateways = await Promise.all([start(t, {}), start(t, {})]);
    const clients = await Promise.all(gateways.map(({ url }) => openWebSocket(t, url, { key: secret })));
    const others = await Promise.all(gateways.map(({ url }) => openWebSocket(t, url)));
    await Promise.all(clients.map((client) => client.call("eth_chainId")));
    const stopwatch = startStopwatch();
    await store.revoke(key.id);
    for (const closed of await Promise.all(clients.map((client) => client.closed))) {
      t.match(closed, { code: 4401, reason: /revoked or has expired/ });
    }
    t.ok(stopwatch.elapsedMs() < 1000, `${Math.round(stopwatch.elapsedMs())} ms`);
    for (const other of others) t.equal(await other.call("eth_chainId"), "eth_chainId");
  });

  t.test("so are those of a key that expires", { buffered: true }, async (t) => {
    const { create } = await openKeyStore(t, redis.url);
    const gateway = await start(t, {});
    // A busy machine takes two seconds to open a socket and to make a call.
    const { secret } = await create({ expiresAtMs: Date.now() + 5000 });
    const client = await openWebSocket(t, gateway.url, { key: secret });
    t.equal(await client.call("eth_chainId"), "eth_chainId");
    t.match(await client.closed, { code: 4401 });
  });

  t.test("a stop lets answers on their way go out, then closes with 1001", { buffered: true }, async (t) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await startStubValidator(t, {
      answer: async (...request) => {
        await released;
        return echoMethod(...request);
      },
    });
    const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [slow.url] });
    const [idle, busy] = await Promise.all([openWebSocket(t, gateway.url), openWebSocket(t, gateway.url)]);
    const answer = busy.call("eth_chainId");
    await waitFor("the validator has a request", async () => slow.bodies.length > 0);
    const stopped = gateway.stop();
    t.match(await idle.closed, { code: 1001, reason: /connect again/ });
    t.equal(busy.socket.readyState, busy.socket.OPEN);
    release();
    t.equal(await answer, "eth_chainId");
    t.match(await busy.closed, { code: 1001 });
    await stopped;
  });
});

/** A metric's value by its name with labels. */
async function metric({ opsUrl }: GatewayUnderTest, name: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}
