import t from "tap";
import { assertOnlyGoodCallArrives, assertRefused, startRig } from "../helpers/bad-input.ts";

const call = (members: string) => `{"jsonrpc":"2.0",${members}}`;
const chainId = '"id":7,"method":"eth_chainId"';
const batchOf = (count: number) => `[${Array<string>(count).fill(call(chainId)).join(",")}]`;

/** JSON texts that are no JSON-RPC request: the body, the id of the answer, what the message speaks of. */
const noRequest: Record<string, [body: string, idText: string, says: RegExp]> = {
  "a number": ["1", "null", /object/],
  "a string": ['"eth_chainId"', "null", /object/],
  null: ["null", "null", /object/],
  true: ["true", "null", /object/],
  "an empty object": ["{}", "null", /jsonrpc|method/],
  "another API's object": ['{"query":"{block{number}}"}', "null", /jsonrpc|method/],
  "a response": ['{"jsonrpc":"2.0","id":7,"result":"0x1"}', "7", /method/],
  "no version": [`{${chainId}}`, "7", /jsonrpc/],
  "version 1.0": [`{"jsonrpc":"1.0",${chainId}}`, "7", /jsonrpc/],
  "the version as a number": [`{"jsonrpc":2.0,${chainId}}`, "7", /jsonrpc/],
  "the version as null": [`{"jsonrpc":null,${chainId}}`, "7", /jsonrpc/],
  "no method": [call('"id":7'), "7", /method/],
  "a method that is a number": [call('"id":7,"method":1'), "7", /method/],
  "a method that is null": [call('"id":7,"method":null'), "7", /method/],
  "a method in an array": [call('"id":7,"method":["eth_chainId"]'), "7", /method/],
  "an empty method's parameters as text": [call(`${chainId},"params":"latest"`), "7", /params/],
  "parameters that are a number": [call(`${chainId},"params":1`), "7", /params/],
  "parameters that are false": [call(`${chainId},"params":false`), "7", /params/],
  "an id that is an object": [call('"id":{"a":1},"method":"eth_chainId"'), "null", /id/],
  "an id that is an array": [call('"id":[7],"method":"eth_chainId"'), "null", /id/],
  "an id that is true": [call('"id":true,"method":"eth_chainId"'), "null", /id/],
  "an empty batch": ["[]", "null", /batch/i],
  "an empty batch with white space": [" [ ] ", "null", /batch/i],
  "a batch of 101": [batchOf(101), "null", /100/],
  "a method twice": [call(`${chainId},"method":"eth_chainId"`), "7", /twice|once|duplicate/],
  "a second method that is forbidden": [
    call(`${chainId},"method":"admin_peers"`),
    "7",
    /twice|once|duplicate/,
  ],
  "an id twice": [call('"id":7,"id":8,"method":"eth_chainId"'), "null", /twice|once|duplicate/],
  "an id twice, once written with an escape": [
    call(`${chainId},"\\u0069d":8`),
    "null",
    /twice|once|duplicate/,
  ],
  "a version twice": [call(`"jsonrpc":"2.0",${chainId}`), "7", /twice|once|duplicate/],
  "parameters twice": [call(`${chainId},"params":[],"params":["x"]`), "7", /twice|once|duplicate/],
  "parameters twice, once with an escape": [
    call(`${chainId},"params":[],"p\\u0061rams":[]`),
    "7",
    /twice|once|duplicate/,
  ],
  "a member of no meaning twice": [call(`${chainId},"x":1,"x":2`), "7", /twice|once|duplicate/],
  "__proto__ twice": [call(`${chainId},"__proto__":{},"__proto__":{}`), "7", /twice|once|duplicate/],
  "the whole call under __proto__": [`{"__proto__":${call(chainId)}}`, "null", /jsonrpc|method/],
  "the method under __proto__": [
    '{"jsonrpc":"2.0","id":7,"__proto__":{"method":"eth_chainId"}}',
    "7",
    /method/,
  ],
};

t.test("JSON that is not a JSON-RPC request: 400, -32600, nothing forwarded", async (t) => {
  const rig = await startRig(t);
  for (const [what, [body, idText, says]] of Object.entries(noRequest)) {
    t.test(what, async (t) => {
      const posted = await rig.gateway.post(body);
      const expected = { status: 400, rpcCode: -32600, code: "invalid_request", idText, says };
      assertRefused(t, { ...posted, body: posted.text }, rig, expected);
    });
  }

  t.test("a batch of 100 is carried out", async (t) => {
    const posted = await rig.gateway.post(batchOf(100));
    t.equal(posted.status, 200);
    t.same(posted.json, Array(100).fill({ jsonrpc: "2.0", id: 7, result: "eth_chainId" }));
    t.equal(rig.stub.bodies.length, 100);
    rig.stub.bodies.length = 0;
  });

  t.test("an item of a batch hurts itself only", async (t) => {
    const items = [
      call(`${chainId},"method":"admin_peers"`),
      call('"id":8,"method":1'),
      call('"id":9,"method":"net_version"'),
    ];
    const posted = await rig.gateway.post(`[${items.join(",")}]`);
    t.equal(posted.status, 200);
    t.match(posted.json, [
      { id: 7, error: { code: -32600, data: { code: "invalid_request" } } },
      { id: 8, error: { code: -32600, data: { code: "invalid_request" } } },
      { id: 9, result: "net_version" },
    ]);
    t.match(posted.json, { length: 3 });
    t.equal(rig.stub.bodies.length, 1);
    rig.stub.bodies.length = 0;
  });

  t.test("and the next good call passes", (t) => assertOnlyGoodCallArrives(t, rig));
});

const notForwarded: Record<string, [method: string, code: string]> = {
  "the name __proto__": ["__proto__", "not_found"],
  "the name constructor": ["constructor", "not_found"],
  "the name toString": ["toString", "not_found"],
  "the name hasOwnProperty": ["hasOwnProperty", "not_found"],
  "an empty name": ["", "not_found"],
  "a name in capitals": ["ETH_CHAINID", "not_found"],
  "a name with a space": ["eth_chainId ", "not_found"],
  "a name with a zero byte": ["eth_chainId\\u0000", "not_found"],
  "a name that looks alike": ["eth_ch\\u0430inId", "not_found"],
  "a name of 100 000 characters": ["x".repeat(100_000), "not_found"],
  "a forbidden name": ["admin_peers", "forbidden"],
  "a forbidden name with an escape": ["admin\\u005fpeers", "forbidden"],
  "a forbidden name with every character escaped": [
    [..."debug_setHead"].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(""),
    "forbidden",
  ],
};

t.test("a method's name is read as JSON means it, and only names of the table pass", async (t) => {
  const rig = await startRig(t);
  for (const [what, [method, code]] of Object.entries(notForwarded)) {
    t.test(`${what}: -32601 with status 200, nothing forwarded`, async (t) => {
      const posted = await rig.gateway.post(call(`"id":7,"method":"${method}"`));
      const says = code === "forbidden" ? /not available/ : /not found/i;
      assertRefused(t, { ...posted, body: posted.text }, rig, {
        status: 200,
        rpcCode: -32601,
        code,
        idText: "7",
        says,
      });
    });
  }

  t.test("a name with escapes is the name that it spells", async (t) => {
    const posted = await rig.gateway.post(call('"id":7,"method":"eth_chain\\u0049d"'));
    t.same(posted.json, { jsonrpc: "2.0", id: 7, result: "eth_chainId" });
    t.match(rig.stub.bodies[0], '"method":"eth_chainId"', "forwarded as the table spells it");
    const named = await rig.gateway.post('{"jsonrpc":"2.0","\\u0069d":7,"\\u006dethod":"net_version"}');
    t.same(named.json, { jsonrpc: "2.0", id: 7, result: "net_version" });
    rig.stub.bodies.length = 0;
  });

  t.test("members of no meaning are not forwarded, whatever they are called", async (t) => {
    const body = call(
      `${chainId},"__proto__":{"method":"admin_peers"},"constructor":1,"toString":null,"x":[{}]`,
    );
    t.same((await rig.gateway.post(body)).json, { jsonrpc: "2.0", id: 7, result: "eth_chainId" });
    t.match(rig.stub.bodies[0], /^\{"jsonrpc":"2\.0","id":\d+,"method":"eth_chainId","params":\[\]\}$/);
    rig.stub.bodies.length = 0;
  });
});

const withParam = (text: string) => call(`"id":7,"method":"txpool_contentFrom","params":[${text}]`);
const nested = (depth: number) => withParam("[".repeat(depth - 2) + "]".repeat(depth - 2));

const tooMuch: Record<string, [body: string, idText: string, says: RegExp]> = {
  "nesting of 65": [nested(65), "7", /64/],
  "nesting of 65 in objects": [withParam(`${'{"a":'.repeat(63)}1${"}".repeat(63)}`), "7", /64/],
  "nesting of 65 in a member that nobody reads": [
    call(`${chainId},"x":${"[".repeat(64)}${"]".repeat(64)}`),
    "7",
    /64/,
  ],
  "nesting of 65 in a batch": [`[${nested(64)}]`, "null", /64/],
  "nesting of 100 000": [nested(100_000), "7", /64/],
  "nesting of 100 000 that never ends": [call(`${chainId},"params":${"[".repeat(100_000)}`), "7", /64/],
  "1e400": [withParam("1e400"), "7", /number/],
  "-1e400": [withParam("-1e400"), "7", /number/],
  "a number of 1 200 digits": [withParam("1".repeat(1200)), "7", /number/],
  "a number of 1 200 digits behind the point": [withParam(`0.${"1".repeat(1200)}`), "7", /number/],
  "an id of 1 200 digits": [call(`"id":${"1".repeat(1200)},"method":"eth_chainId"`), "null", /number/],
  "a member's name of 60 000 characters": [withParam(`{"${"n".repeat(60_000)}":1}`), "7", /name/],
};

const enough: Record<string, string> = {
  "nesting of 64": nested(64),
  "1e308": withParam("1e308"),
  "a number of 1 000 characters": withParam(`0.${"1".repeat(998)}`),
  "a name of 66 characters": withParam(`{"0x${"0".repeat(64)}":1}`),
  "a whole surrogate pair": withParam('"\\ud83d\\ude00"'),
};

t.test("what would break the parser of a validator is refused before it gets there", async (t) => {
  const rig = await startRig(t);
  for (const [what, [body, idText, says]] of Object.entries(tooMuch)) {
    t.test(what, async (t) => {
      const posted = await rig.gateway.post(body);
      const expected = { status: 400, rpcCode: -32600, code: "invalid_request", idText, says };
      assertRefused(t, { ...posted, body: posted.text }, rig, expected);
    });
  }
  for (const [what, body] of Object.entries(enough)) {
    t.test(`${what} passes as it was written`, async (t) => {
      const { status } = await rig.gateway.post(body);
      t.equal(status, 200);
      t.equal(rig.stub.bodies.length, 1);
      t.match(rig.stub.bodies[0], body.slice(body.indexOf('"params"')));
      rig.stub.bodies.length = 0;
    });
  }
});
