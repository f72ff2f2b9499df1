import t from "tap";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { openWebSocket } from "../helpers/web-socket-client.ts";
import { createGate, echo } from "./upstream/pool/start-pool.ts";

const underWayMax = 3;
const call = (id: number) => ({ jsonrpc: "2.0", id, method: "web3_sha3", params: [`0x${id}`] });
const tooMany = {
  code: -32005,
  message: /^This API key has too many calls in flight/,
  data: { code: "rate_limited", retryAfterMs: 1000 },
};

t.test("a key with as many calls on their way as it may have", async (t) => {
  const redis = await startRedis(t);
  const gate = createGate(echo);
  const validator = await startStubValidator(t, { answer: gate.answer });
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    change: (config) => ({
      ...config,
      forward: { ...config.forward, groupMax: { ...config.forward.groupMax, light: underWayMax } },
    }),
  });
  const held = Array.from({ length: underWayMax }, (_, id) => gateway.post(call(id)));
  await waitFor(
    "the validator has as many requests as can be under way",
    () => validator.bodies.length === underWayMax,
  );

  const one = await gateway.post({ ...call(7), id: "seven" });
  t.equal(one.status, 429);
  t.equal(one.headers.get("Retry-After"), "1");
  t.ok(one.headers.get("RateLimit"));
  t.match(one.json, { id: "seven", error: tooMany });

  const sent = await gateway.post({ ...call(8), method: "eth_sendRawTransaction" });
  t.equal(sent.status, 429);
  t.match(sent.json, { id: 8, error: tooMany }, "a transaction that went nowhere is not said to be lost");

  const notified = await gateway.post({ ...call(9), id: undefined });
  t.equal(notified.status, 429, "nor does a notification look as if it had been carried out");

  const batch = await gateway.post([call(1), { ...call(2), method: "eth_nosuch" }]);
  t.equal(batch.status, 200);
  t.equal(batch.headers.get("Retry-After"), "1");
  t.match(batch.json, [
    { id: 1, error: tooMany },
    { id: 2, error: { code: -32601 } },
  ]);

  const socket = await openWebSocket(t, gateway.url, { key: coreKey });
  t.match(await socket.request("web3_sha3", ["0x1"]), { error: tooMany });

  const others = gateway.post(call(1), { key: qaKey });
  t.ok(
    await waitFor("another key's call goes its way", () => validator.bodies.length === underWayMax + 1),
    "another key's call goes its way",
  );
  t.notOk(gateway.logLines.some((line) => line.includes("validator ejected")));
  gate.open();
  for (const answer of await Promise.all([...held, others])) t.equal(answer.status, 200);
  const after = await gateway.post(call(1));
  t.equal(after.status, 200, "and when they are over the key may ask again");
  t.equal(after.headers.get("Retry-After"), null);
});
