import type { Socket } from "node:net";
import t, { type Test } from "tap";
import { keyIdsKey } from "../../../lib/redis/keys/api-keys.ts";
import { startStubValidator } from "../../fakes/stub-validator.ts";
import { startTcpProxy } from "../../fakes/tcp-proxy.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { connectAdmin, startRedis } from "../../helpers/redis.ts";

const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
const commandTimeoutMs = 250;
const silentMs = 2000;

/** Starts a gateway over a Redis whose answers go through `answer`; undefined loses one. */
async function startOver(t: Test, answer: (data: Buffer, client: Socket) => Buffer | undefined) {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const proxy = await startTcpProxy({
    port: () => Number(new URL(redis.url).port),
    answer(client, data) {
      const given = answer(data, client);
      if (given !== undefined && !client.destroyed) client.write(given);
    },
  });
  t.teardown(proxy.stop);
  return startGateway(t, {
    redisUrl: `redis://127.0.0.1:${proxy.port}`,
    upstreams: [validator.url],
    change: (config) => ({ ...config, redisCommandTimeoutMs: commandTimeoutMs }),
  });
}

/** Redis's answer to INFO: after it the connection is ready, and the next command is the gateway's own. */
const isReadyAnswer = (data: Buffer) => data.includes("loading:0");

t.test("a Redis that falls silent while keys are seeded gets them once it answers again", async (t) => {
  const silent = new WeakSet<Socket>();
  let silentUntilMs: number | undefined;
  const gateway = await startOver(t, (data, client) => {
    // The first script that this Redis does not know yet: of the seeding, or of what comes right before it.
    if (data.includes("NOSCRIPT")) silentUntilMs ??= performance.now() + silentMs;
    // Answers are matched by their order: a connection that has lost one gets no other.
    if (silentUntilMs !== undefined && performance.now() < silentUntilMs) silent.add(client);
    return silent.has(client) ? undefined : data;
  });
  t.ok(
    gateway.logLines.some((line) => line.includes("Redis did not answer within")),
    "the attempt that failed is logged",
  );
  t.equal((await gateway.post(chainId)).status, 200, "a configured key is good");
});

t.test("a Redis that loads its data when the gateway starts is waited for", async (t) => {
  let loading = 3;
  const gateway = await startOver(t, (data) => {
    if (!isReadyAnswer(data) || loading === 0) return data;
    loading -= 1;
    return Buffer.from(data.toString("latin1").replace("loading:0", "loading:1"), "latin1");
  });
  t.equal(loading, 0);
  t.equal((await gateway.post(chainId)).status, 200);
});

t.test("an error that Redis answers to the seeding ends the start", async (t) => {
  const redis = await startRedis(t);
  const client = await connectAdmin(t, redis.url);
  await client.set(keyIdsKey, "no hash");
  await t.rejects(startGateway(t, { redisUrl: redis.url, upstreams: ["http://127.0.0.1:1"] }), {
    name: "ReplyError",
    message: /WRONGTYPE/,
  });
});
