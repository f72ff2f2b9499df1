import { Wallet } from "ethers";
import t from "tap";
import { startAnvil } from "../helpers/anvil.ts";
import { startRig } from "../helpers/bad-input.ts";
import { startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { waitFor } from "../helpers/wait-for.ts";

/** The first of the public development accounts that every dev chain has. */
const funded = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

const invalid = { jsonrpc: "2.0", id: null, error: { code: -32600 } };

/**
 * The examples of section 7: sum is eth_gasPrice, subtract eth_call, get_data web3_clientVersion; update and
 * notify_hello are net_version.
 */
const examples: Record<string, [sent: string, status: number, answer: unknown]> = {
  "positional parameters": [
    '{"jsonrpc": "2.0", "method": "eth_call", "params": [42, 23], "id": 1}',
    200,
    { jsonrpc: "2.0", result: 19, id: 1 },
  ],
  "positional parameters the other way round": [
    '{"jsonrpc": "2.0", "method": "eth_call", "params": [23, 42], "id": 2}',
    200,
    { jsonrpc: "2.0", result: -19, id: 2 },
  ],
  "a notification": ['{"jsonrpc": "2.0", "method": "net_version", "params": [1,2,3,4,5]}', 204, undefined],
  "a notification of a method that is unknown": ['{"jsonrpc": "2.0", "method": "foobar"}', 204, undefined],
  "a method that is unknown": [
    '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
    200,
    { jsonrpc: "2.0", error: { code: -32601 }, id: "1" },
  ],
  "invalid JSON": [
    '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
    400,
    { jsonrpc: "2.0", error: { code: -32700 }, id: null },
  ],
  "an invalid request object": ['{"jsonrpc": "2.0", "method": 1, "params": "bar"}', 400, invalid],
  "a batch of invalid JSON": [
    '[{"jsonrpc": "2.0", "method": "eth_gasPrice", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]',
    400,
    { jsonrpc: "2.0", error: { code: -32700 }, id: null },
  ],
  "an empty array": ["[]", 400, invalid],
  "an invalid batch that is not empty": ["[1]", 200, [invalid]],
  "an invalid batch": ["[1,2,3]", 200, [invalid, invalid, invalid]],
  "a batch": [
    `[{"jsonrpc": "2.0", "method": "eth_gasPrice", "params": [1,2,4], "id": "1"},
      {"jsonrpc": "2.0", "method": "net_version", "params": [7]},
      {"jsonrpc": "2.0", "method": "eth_call", "params": [42,23], "id": "2"},
      {"foo": "boo"},
      {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
      {"jsonrpc": "2.0", "method": "web3_clientVersion", "id": "9"}]`,
    200,
    [
      { jsonrpc: "2.0", result: 7, id: "1" },
      { jsonrpc: "2.0", result: 19, id: "2" },
      invalid,
      { jsonrpc: "2.0", error: { code: -32601 }, id: "5" },
      { jsonrpc: "2.0", result: ["hello", 5], id: "9" },
    ],
  ],
  "a batch of notifications": [
    '[{"jsonrpc": "2.0", "method": "eth_gasPrice", "params": [1,2,4]},{"jsonrpc": "2.0", "method": "net_version", "params": [7]}]',
    204,
    undefined,
  ],
};

t.test("the specification's examples, with methods of Ethereum in place of its own", async (t) => {
  const { gateway, stub } = await startRig(t);
  stub.answerWith((body) => {
    const { id, method, params }: { id: number; method: string; params: number[] } = JSON.parse(body);
    const [first = 0, ...rest] = params;
    const results: Record<string, unknown> = {
      eth_gasPrice: params.reduce((sum, next) => sum + next, 0),
      eth_call: rest.reduce((left, next) => left - next, first),
      web3_clientVersion: ["hello", 5],
      net_version: null,
    };
    return JSON.stringify({ jsonrpc: "2.0", result: results[method], id });
  });
  for (const [what, [sent, status, answer]] of Object.entries(examples)) {
    t.test(what, async (t) => {
      const posted = await gateway.post(sent);
      t.equal(posted.status, status);
      if (answer === undefined) t.equal(posted.text, "");
      else {
        t.equal(posted.headers.get("content-type"), "application/json");
        t.match(posted.json, answer);
        if (Array.isArray(answer)) t.match(posted.json, { length: answer.length });
      }
    });
  }
});

t.test("batches", async (t) => {
  const { gateway, stub } = await startRig(t);
  t.beforeEach(() => {
    stub.bodies.length = 0;
  });

  t.test("answers stand in the request's order, however late each of them comes", async (t) => {
    let answered = 0;
    stub.answerWith(async (body) => {
      const { id, params } = JSON.parse(body);
      answered += 1;
      // In another order than they were asked in.
      await new Promise((resolve) => setTimeout(resolve, (answered * 37) % 60));
      return `{"jsonrpc":"2.0","id":${id},"result":${params[0]}}`;
    });
    const ids = Array.from({ length: 60 }, (_, index) => (index * 7919) % 100);
    const posted = await gateway.post(
      ids.map((id, index) => ({ jsonrpc: "2.0", id, method: "web3_sha3", params: [index] })),
    );
    t.same(
      posted.json,
      ids.map((id, index) => ({ jsonrpc: "2.0", id, result: index })),
    );
  });

  t.test("the same id several times is the client's own affair", async (t) => {
    stub.answerWith(
      (body) => `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":${JSON.parse(body).params[0]}}`,
    );
    const posted = await gateway.post(
      [1, 2, 3].map((value) => ({ jsonrpc: "2.0", id: 1, method: "web3_sha3", params: [value] })),
    );
    t.same(
      posted.json,
      [1, 2, 3].map((result) => ({ jsonrpc: "2.0", id: 1, result })),
    );
  });

  t.test("a batch inside a batch is an invalid item", async (t) => {
    const posted = await gateway.post('[[{"jsonrpc":"2.0","id":1,"method":"net_version"}]]');
    t.match(posted.json, [{ jsonrpc: "2.0", id: null, error: { code: -32600 } }]);
    t.same(stub.bodies, []);
  });
});

t.test("notifications", async (t) => {
  const { gateway, stub } = await startRig(t);
  t.beforeEach(() => {
    stub.bodies.length = 0;
  });
  const note = (method: string) => `{"jsonrpc":"2.0","method":"${method}"}`;

  t.test("one is carried out and answered 204, without a body or a content type", async (t) => {
    const posted = await gateway.post(note("net_version"));
    t.equal(posted.status, 204);
    t.equal(posted.text, "");
    t.equal(posted.headers.get("content-type"), null);
    t.equal(stub.bodies.length, 1);
    t.match(stub.bodies[0], /"id":\d+,"method":"net_version"/);
  });

  t.test("a call with the id null is no notification", async (t) => {
    const posted = await gateway.post('{"jsonrpc":"2.0","id":null,"method":"net_version"}');
    t.equal(posted.status, 200);
    t.same(posted.json, { jsonrpc: "2.0", id: null, result: "net_version" });
  });

  t.test("in a batch each is carried out and none is answered", async (t) => {
    const call = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}';
    const posted = await gateway.post(`[${note("net_version")},${call},${note("eth_chainId")}]`);
    t.same(posted.json, [{ jsonrpc: "2.0", id: 1, result: "eth_gasPrice" }]);
    t.equal(stub.bodies.length, 3);
  });

  t.test("one that may not pass is not answered either, and not forwarded", async (t) => {
    for (const body of [note("admin_peers"), note("x"), `[${note("x")},${note("admin_peers")}]`]) {
      const posted = await gateway.post(body);
      t.equal(posted.status, 204);
      t.equal(posted.text, "");
    }
    t.same(stub.bodies, []);
  });

  t.test("the validator's error to one is not told", async (t) => {
    stub.answerWith(
      (body) => `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"error":{"code":-32000,"message":"no"}}`,
    );
    const posted = await gateway.post(note("net_version"));
    t.equal(posted.status, 204);
    t.equal(posted.text, "");
  });

  t.test("one that is no request object is answered, with the id null", async (t) => {
    const posted = await gateway.post('{"jsonrpc":"2.0","method":1}');
    t.equal(posted.status, 400);
    t.match(posted.json, { id: null, error: { code: -32600 } });
  });
});

t.test("a notification that changes the chain does so, and is answered 204", async (t) => {
  const [redis, chain] = await Promise.all([startRedis(t), startAnvil(t)]);
  const gateway = await startGateway(t, { redisUrl: redis.url, upstreams: [chain.url] });
  const wallet = new Wallet(funded);
  const to = "0x000000000000000000000000000000000000dEaD";
  const transfer = (nonce: number) =>
    wallet.signTransaction({ chainId: 8845, nonce, to, value: 1n, gasLimit: 21_000n, gasPrice: 10n ** 10n });
  const resultOf = async (method: string, params: string[]) => {
    const { text } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
    const { result }: { result: string } = JSON.parse(text);
    return result;
  };
  const nonceBefore = Number(await resultOf("eth_getTransactionCount", [wallet.address, "latest"]));
  const note = (raw: string) => ({ jsonrpc: "2.0", method: "eth_sendRawTransaction", params: [raw] });

  const single = await gateway.post(note(await transfer(nonceBefore)));
  t.equal(single.status, 204);
  t.equal(single.text, "");
  const batch = await gateway.post([
    note(await transfer(nonceBefore + 1)),
    note(await transfer(nonceBefore + 2)),
  ]);
  t.equal(batch.status, 204);
  t.equal(batch.text, "");

  const balance = () => resultOf("eth_getBalance", [to, "latest"]);
  t.ok(await waitFor("all three are mined", async () => (await balance()) === "0x3", { everyMs: 100 }));
});
