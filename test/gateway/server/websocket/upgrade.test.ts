import { Redis } from "ioredis";
import t from "tap";
import { createKeyStore } from "../../../../lib/keys/key-store.ts";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { coreKey, expiredKey, faucetOnlyKey, startGateway } from "../../../helpers/gateway.ts";
import { openRawWebSocket, type RawWebSocket } from "../../../helpers/raw-web-socket.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { openWebSocket } from "../../../helpers/web-socket-client.ts";

t.test("upgrades", async (t) => {
  const [redis, validator] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({
      ...config,
      limits: { ...config.limits, requestsPerMinute: 20 },
      webSocket: { ...config.webSocket, connectionsPerKeyMax: 3 },
    }),
  });
  const upgrade = (headers: Readonly<Record<string, string | undefined>>, target?: string) =>
    openRawWebSocket(t, gateway.port, { headers, ...(target === undefined ? {} : { target }) });
  const closing = async (socket: RawWebSocket) => {
    socket.end();
    await socket.closed;
    return socket;
  };

  t.test("the key comes in the header", async (t) => {
    const { status, head } = await closing(await upgrade({}));
    t.equal(status, 101);
    // RFC 6455 section 1.3 has this pair as its example.
    t.match(head, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    t.notMatch(head, /Sec-WebSocket-Protocol/i);
  });

  t.test("or in a subprotocol, where the other one is selected: the key is never repeated", async (t) => {
    const offers = [`tollgate.v1, api-key.${coreKey}`, `api-key.${coreKey},tollgate.v1`];
    for (const offer of offers) {
      const { status, head } = await closing(
        await upgrade({ "X-API-Key": undefined, "Sec-WebSocket-Protocol": offer }),
      );
      t.equal(status, 101);
      t.match(head, "Sec-WebSocket-Protocol: tollgate.v1\r\n");
      t.notMatch(head, coreKey);
    }
    const client = await openWebSocket(t, gateway.url, {
      key: null,
      protocols: ["tollgate.v1", `api-key.${coreKey}`],
    });
    t.equal(client.socket.protocol, "tollgate.v1");
    t.equal(await client.call("eth_chainId"), "eth_chainId");
    await client.close();
    t.notMatch(gateway.logLines.join(""), coreKey, "nor logged");
  });

  t.test("the protocol alone is selected too; others are not", async (t) => {
    const { head } = await closing(await upgrade({ "Sec-WebSocket-Protocol": "tollgate.v1" }));
    t.match(head, "Sec-WebSocket-Protocol: tollgate.v1");
    const other = await closing(await upgrade({ "Sec-WebSocket-Protocol": "graphql-ws" }));
    t.equal(other.status, 101);
    t.notMatch(other.head, /Sec-WebSocket-Protocol/i);
  });

  t.test("what is refused is refused before the upgrade", async (t) => {
    const wrongs: [number, Readonly<Record<string, string | undefined>>, string?][] = [
      [401, { "X-API-Key": undefined }],
      [401, { "X-API-Key": undefined }, `/?key=${coreKey}`],
      [401, { "X-API-Key": "nobody knows this key" }],
      [401, { "X-API-Key": expiredKey }],
      [401, { "X-API-Key": undefined, "Sec-WebSocket-Protocol": "tollgate.v1, api-key.unknown" }],
      [403, { "X-API-Key": faucetOnlyKey }],
      [400, { "X-API-Key": undefined, "Sec-WebSocket-Protocol": `api-key.${coreKey}` }],
      [400, { "Sec-WebSocket-Protocol": `tollgate.v1, api-key.${coreKey}` }],
      [400, { "Sec-WebSocket-Version": "8" }],
      [400, { Host: undefined }],
      [404, {}, "/elsewhere"],
      [405, { Upgrade: undefined }],
      [405, { Connection: "keep-alive" }],
      [405, { "Sec-WebSocket-Key": "short" }],
    ];
    for (const [expected, headers, target] of wrongs) {
      const { status } = await closing(await upgrade(headers, target));
      t.equal(status, expected, JSON.stringify([headers, target]));
    }
    const { head } = await closing(await upgrade({ "Sec-WebSocket-Version": "8" }));
    t.match(head, "Sec-WebSocket-Version: 13");
  });

  t.test("a key's connections are counted; one more is refused until one is closed", async (t) => {
    const open = await Promise.all([upgrade({}), upgrade({}), upgrade({})]);
    t.same(
      open.map(({ status }) => status),
      [101, 101, 101],
    );
    const refused = await closing(await upgrade({}));
    t.equal(refused.status, 429);
    t.match(refused.head, "Retry-After: 1");
    const [first, ...others] = open;
    if (first !== undefined) await closing(first);
    const again = await untilStatus(101, () => upgrade({}));
    for (const socket of [...others, again]) await closing(socket);
  });

  t.test("pages of an origin that the team does not list are refused", async (t) => {
    const admin = new Redis(redis.url);
    t.teardown(() => admin.disconnect());
    const store = createKeyStore({ redis: admin });
    await store.setTeam({ name: "partners", origins: ["https://dapp.example"] });
    const made = await store.create({
      team: "partners",
      label: "a page",
      permissions: ["rpc"],
      qa: false,
      profile: "development",
    });
    if (made.outcome !== "created") throw new Error(made.outcome);
    const from = async (origin: string | undefined) =>
      (await closing(await upgrade({ "X-API-Key": made.secret, Origin: origin }))).status;
    t.equal(await from("https://dapp.example"), 101);
    t.equal(await from(undefined), 101, "not a page");
    t.equal(await from("https://other.example"), 403);
  });

  t.test("an address with too many bad keys gets 429, a good key from there does not", async (t) => {
    const bad = await untilStatus(429, () => upgrade({ "X-API-Key": "nobody knows this key" }));
    t.match(bad.head, /Retry-After: \d+/);
    t.equal((await closing(await upgrade({}))).status, 101);
  });
});

async function untilStatus(wanted: number, open: () => Promise<RawWebSocket>): Promise<RawWebSocket> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const socket = await open();
    if (socket.status === wanted) return socket;
    socket.end();
    await socket.closed;
  }
  throw new Error(`status ${wanted} did not come`);
}
