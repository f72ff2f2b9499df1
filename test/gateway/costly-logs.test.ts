import t from "tap";
import { topicOf } from "../fakes/scripted-chain.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { openWebSocket } from "../helpers/web-socket-client.ts";

const manyTopics = (count: number, name = "") => ({
  topics: [Array.from({ length: count }, (_, index) => topicOf(`${name} ${index}`))],
});
const call = (method: string, params: unknown[], id = 1) => ({ jsonrpc: "2.0", id, method, params });

t.test("what logs are asked for", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [validator.url] });
  const restOf = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get("RateLimit") ?? "")?.[1]);
  const costOf = async (body: unknown) => {
    const before = restOf((await gateway.post(call("eth_chainId", []))).headers);
    return before - restOf((await gateway.post(body)).headers);
  };

  t.test("a filter costs by what it names, and is refused where that is more than 128 KiB", async (t) => {
    const range = { fromBlock: "0x1", toBlock: "0x1" };
    t.equal(await costOf(call("eth_getLogs", [{ ...range, ...manyTopics(4) }])), 1);
    t.equal(await costOf(call("eth_getLogs", [{ ...range, ...manyTopics(1000) }])), 17);
    t.equal(await costOf(call("eth_newFilter", [manyTopics(4)])), 1);
    t.equal(await costOf(call("eth_newFilter", [manyTopics(1000)])), 17);
    const seen = validator.bodies.length;
    for (const method of ["eth_getLogs", "eth_newFilter"]) {
      const longer = JSON.stringify(call(method, [{}])).replace("[{}]", `[{}${" ".repeat(131_072 - 3)}]`);
      t.match((await gateway.post(longer)).json, {
        error: {
          code: -32602,
          message: `The parameters of ${method} may take 131072 bytes`,
          data: { paramsBytesMax: 131_072 },
        },
      });
      t.match((await gateway.post(call(method, [manyTopics(1001)]))).json, {
        error: { code: -32602, message: "A filter may name at most 1000 addresses and topics together" },
      });
    }
    t.equal(validator.bodies.length, seen, "nobody was asked");
  });

  t.test("a key's subscriptions name 20 000 addresses and topics, over all its sockets", async (t) => {
    const sockets = [await openWebSocket(t, gateway.url), await openWebSocket(t, gateway.url)] as const;
    for (let made = 0; made < 20; made += 1) {
      const answer = await sockets[made % 2 === 0 ? 0 : 1].request("eth_subscribe", [
        "logs",
        manyTopics(1000, String(made)),
      ]);
      t.match(answer, { result: /^0x/ });
    }
    const refused = {
      error: {
        code: -32005,
        message:
          "The subscriptions of this API key may name 20000 addresses and topics; end one with eth_unsubscribe",
        data: { code: "rate_limited", logValuesPerKeyMax: 20_000 },
      },
    };
    for (const socket of sockets) t.match(await socket.request("eth_subscribe", ["logs", {}]), refused);
    t.match(await sockets[0].request("eth_subscribe", ["newHeads"]), { result: /^0x/ }, "others are taken");
    const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
    t.match(metrics, /^tollgate_gateway_log_values 20000$/m);
  });
});
