import t, { type Test } from "tap";
import { type StubValidator, startStubValidator } from "../fakes/stub-validator.ts";
import { coreKey, type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { rawPost, rawRequest } from "../helpers/raw-http.ts";
import { startRedis } from "../helpers/redis.ts";

/** A text as the bytes of UTF-8, one a character. */
const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

async function startRig(t: Test): Promise<{ gateway: GatewayUnderTest; stub: StubValidator }> {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  t.beforeEach(() => {
    stub.bodies.length = 0;
  });
  return { stub, gateway: await startGateway(t, { redisUrl: redis.url, upstreams: [stub.url] }) };
}

/** POSTs a body of bytes, one a character, and gives the answer's so. */
async function postBytes({ port }: { port: number }, body: string) {
  const [response] = (await rawRequest(port, rawPost({ key: coreKey, body }))).responses;
  if (response === undefined) throw new Error("no answer came");
  return response;
}

t.test("an id comes back byte for byte, and the validator never sees it", async (t) => {
  const { gateway, stub } = await startRig(t);
  const ids = [
    ...[
      "0",
      "7",
      "-0",
      "-1",
      "1.0",
      "1.50",
      "1e3",
      "1E+3",
      "0.1e-7",
      "9007199254740993",
      "1".repeat(300),
      "null",
    ],
    ...[
      '""',
      '"1"',
      '"\\u0061"',
      '"a\\/b\\n\\"\\\\"',
      '"\\ud83d\\ude00"',
      utf8('"Größe 日本 😀"'),
      `"${"x".repeat(10_000)}"`,
    ],
    ...['"$&$1"', '"\\"id\\":1,\\"error\\":{}"', '"</script>"'],
  ];
  for (const idText of ids) {
    const call = `{"jsonrpc":"2.0","method":"net_version","id":${idText}}`;
    const single = await postBytes(gateway, call);
    t.equal(single.body, `{"jsonrpc":"2.0","id":${idText},"result":"net_version"}`);
    const refused = await postBytes(gateway, call.replace("net_version", "x"));
    t.match(refused.body, `{"jsonrpc":"2.0","id":${idText},"error":{"code":-32601,`);
  }
  const all = await postBytes(
    gateway,
    `[${ids.map((id) => `{"jsonrpc":"2.0","method":"net_version","id":${id}}`)}]`,
  );
  t.equal(all.body, `[${ids.map((id) => `{"jsonrpc":"2.0","id":${id},"result":"net_version"}`)}]`);
  for (const body of stub.bodies)
    t.match(body, /^\{"jsonrpc":"2\.0","id":\d+,"method":"net_version","params":\[\]\}$/);
});

t.test("a validator's answer comes back byte for byte, but for the id", async (t) => {
  const { gateway, stub } = await startRig(t);
  const values = [
    ...["1.0", "1e3", "-0", "1E400", "123456789012345678901234567890", "null", "false", '""', "[]", "{}"],
    ...[
      '{"b":1,"a":2,"10":3,"2":4}',
      '{"a":1,"a":2}',
      '{"id":5,"result":{"id":6}}',
      '"\\u0061\\/"',
      '"\\"id\\":1"',
      "[ 1 ,\t2 ]",
    ],
    ...[
      '"Größe 日本 😀"',
      '["\\\\",{"\\"id":0}]',
      '"$&$1"',
      `"0x${"ab".repeat(50_000)}"`,
      '{"__proto__":{"id":1}}',
    ],
  ];
  /** Each way to write a response object around a result. */
  const shapes: ((id: number | string, value: string) => string)[] = [
    (id, value) => `{"jsonrpc":"2.0","id":${id},"result":${value}}`,
    (id, value) => `{"jsonrpc":"2.0","result":${value},"id":${id}}`,
    (id, value) => `{"result":${value},"id":${id},"jsonrpc":"2.0"}`,
    (id, value) => `{ "jsonrpc" : "2.0" ,\n "id" : ${id} ,\n "result" : ${value} }`,
    (id, value) => `{"jsonrpc":"2.0","x":{"id":9},"id":${id},"result":${value},"error":null,"y":["id"]}`,
    (id, value) => `{"id":${id},"jsonrpc":"2.0","result":${value}}`,
  ];
  for (const [index, shape] of shapes.entries()) {
    for (const value of values) {
      stub.answerWith((body) => shape(JSON.parse(body).id, value));
      const { status, body } = await postBytes(gateway, '{"jsonrpc":"2.0","method":"net_version","id":1e0}');
      t.equal(status, 200);
      t.equal(body, utf8(shape("1e0", value)), `shape ${index}`);
    }
  }
});

t.test("errors of a validator pass through unchanged, with status 200", async (t) => {
  const { gateway, stub } = await startRig(t);
  const errors = [
    '{"code":3,"message":"Execution reverted (nope)","data":"0x08c379a0"}',
    '{"code":-32000,"message":"Known transaction"}',
    '{"code":-39001,"message":"Unknown block"}',
    '{"message":"außer der Reihe","code":-32602.0,"data":{"b":1.0,"a":[1e3]},"more":true}',
  ];
  for (const error of errors) {
    stub.answerWith((body) => `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"error":${error}}`);
    const { status, body } = await postBytes(gateway, '{"jsonrpc":"2.0","method":"net_version","id":1.0}');
    t.equal(status, 200);
    t.equal(body, utf8(`{"jsonrpc":"2.0","id":1.0,"error":${error}}`));
  }
});

t.test(
  "what is forwarded is written anew: the table's name, an id of our own, the parameters' bytes",
  async (t) => {
    const { gateway, stub } = await startRig(t);
    const paramsTexts = [
      '["0x00"]',
      "[1.0,1e3,-0,1.50]",
      '[ {"b":1,\t"a":2} , "\\u0061" ]',
      '[{"a":1,"a":2}]',
      '["日本 😀"]',
      "[]",
    ];
    for (const params of paramsTexts) {
      const { status } = await postBytes(
        gateway,
        utf8(` {"params" :${params}, "id":"x","method":"txpool_content\\u0046rom","jsonrpc":"2.0","x":1}\n`),
      );
      t.equal(status, 200);
      t.match(stub.bodies.at(-1), /^\{"jsonrpc":"2\.0","id":\d+,"method":"txpool_contentFrom","params":/);
      t.ok(stub.bodies.at(-1)?.endsWith(`"params":${params}}`), params);
    }

    t.test("absent parameters and null are none", async (t) => {
      await gateway.post('{"jsonrpc":"2.0","id":1,"method":"net_version"}');
      await gateway.post('{"jsonrpc":"2.0","id":1,"method":"net_version","params":null}');
      for (const body of stub.bodies) t.match(body, '"params":[]}');
      t.equal(stub.bodies.length, 2);
    });

    t.test("parameters by name are refused with -32602, which says how to send them", async (t) => {
      const posted = await gateway.post('{"jsonrpc":"2.0","id":1,"method":"net_version","params":{"a":1}}');
      t.equal(posted.status, 200);
      t.match(posted.json, {
        id: 1,
        error: { code: -32602, message: /array.*position/, data: { code: "invalid_request" } },
      });
      t.same(stub.bodies, []);
    });
  },
);
