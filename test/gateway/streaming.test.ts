import { createHash } from "node:crypto";
import { connect } from "node:net";
import t from "tap";
import { echoMethod, startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, qaKey, startGateway } from "../helpers/gateway.ts";
import { rawPost, rawRequest } from "../helpers/raw-http.ts";
import { startRedis } from "../helpers/redis.ts";

const trace = {
  jsonrpc: "2.0",
  id: "a\u00e9",
  method: "debug_traceTransaction",
  params: [`0x${"1".repeat(64)}`],
};
const cut = `0x${"2".repeat(64)}`;
const other = `0x${"3".repeat(64)}`;
const thirdKey = "test-key-with-traces-of-its-own";
const receipt = { gasUsed: "0x5208" };
const resultBytes = 20 * 1024 * 1024;
const result = "0123456789abcdef".repeat(resultBytes / 16);

t.test("long answers", async (t) => {
  const redis = await startRedis(t);
  const validator = await startStubValidator(t, {
    answer(body, response, request) {
      const { id, method, params }: { id: number; method: string; params: string[] } = JSON.parse(body);
      if (method === "eth_getTransactionReceipt")
        return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(receipt)}}`;
      if (method !== "debug_traceTransaction") return echoMethod(body, response, request);
      if (params[0] !== cut && params[0] !== other)
        return `{"jsonrpc":"2.0","id":${id},"result":"${result}","more":1.0}`;
      response.writeHead(200, { "Content-Length": String(resultBytes) });
      response.write(`{"jsonrpc":"2.0","id":${id},"result":"${result.slice(0, 1_000_000)}`, () =>
        response.destroy(),
      );
      return undefined;
    },
  });
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [validator.url],
    // A key whose trace breaks off gets no more.
    change: (config) => ({
      ...config,
      keys: [
        ...config.keys,
        {
          label: "third",
          team: "tests",
          value: thirdKey,
          permissions: ["rpc", "explorer"],
          limitPerMinute: 10_000,
        },
      ],
    }),
  });

  t.test(
    "20 MB come through byte for byte, with the client's id and the headers of every answer",
    async (t) => {
      const { status, headers, text } = await gateway.post(trace);
      t.equal(status, 200);
      t.ok(headers.get("RateLimit"));
      t.equal(headers.get("Content-Type"), "application/json");
      const expected = `{"jsonrpc":"2.0","id":"a\u00e9","result":"${result}","more":1.0}`;
      const digest = (value: string) => createHash("sha256").update(value).digest("hex");
      t.equal(digest(text), digest(expected));
    },
  );

  t.test("a key for QA is told which validator streams", async (t) => {
    const { headers, text } = await gateway.post(trace, { key: qaKey });
    t.ok(text.length > resultBytes, "it came as a stream");
    t.equal(headers.get("X-Tollgate-Validator"), "validator-1");
    t.equal(headers.get("X-Tollgate-Cache"), "miss");
  });

  t.test("in a batch they come whole, beside the others", async (t) => {
    const { json } = await gateway.post([
      { ...trace, id: 1 },
      { jsonrpc: "2.0", id: 2, method: "eth_gasPrice" },
    ]);
    t.match(json, [
      { id: 1, result: new RegExp(`^.{${1000}}`) },
      { id: 2, result: "eth_gasPrice" },
    ]);
  });

  t.test("one that breaks off ends in a broken connection, never in what looks whole", async (t) => {
    const body = JSON.stringify({ ...trace, id: 1, params: [cut] });
    const { responses, text, closedAfterMs } = await rawRequest(
      gateway.port,
      rawPost({ key: coreKey, body }),
    );
    t.same(responses, [], "no whole answer");
    t.ok(text.length > 100_000, "it had begun");
    t.ok(closedAfterMs !== undefined);
    const again = await gateway.post({ ...trace, params: [cut] });
    t.match(again.json, { error: { message: /is refused for a while/ } }, "and is not tried again");
    await t.rejects(gateway.post({ ...trace, params: [other] }, { key: qaKey }), "a client of HTTP notices");
  });

  t.test("a reader that stands still does not slow the others", async (t) => {
    const socket = connect(gateway.port, "127.0.0.1");
    t.teardown(() => socket.destroy());
    socket.pause();
    socket.write(rawPost({ key: thirdKey, body: JSON.stringify({ ...trace, id: 1 }) }));
    let longestMs = 0;
    for (let call = 0; call < 100; call += 1) {
      const started = performance.now();
      t.equal((await gateway.post({ jsonrpc: "2.0", id: 1, method: "eth_gasPrice" })).status, 200);
      longestMs = Math.max(longestMs, performance.now() - started);
    }
    // A call behind it would wait until the reader is closed, after 10 s.
    t.ok(longestMs < 5000, `the slowest of them took ${Math.round(longestMs)} ms`);
  });

  t.test("a client that leaves in the middle leaves nothing behind", async (t) => {
    for (let client = 0; client < 12; client += 1) {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.write(rawPost({ key: thirdKey, body: JSON.stringify({ ...trace, id: 1 }) }));
      await new Promise((resolve) => socket.once("data", resolve));
      socket.destroy();
    }
    // More than the slow lane has places: each must have been freed.
    const { status } = await gateway.post({ ...trace, id: 2 }, { key: thirdKey });
    t.equal(status, 200);
    const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
    t.match(metrics, /^tollgate_gateway_requests_in_flight 0$/m);
  });
});
