import t from "tap";
import { scanRequest } from "../../../gateway/json-rpc/scan.ts";
import type { ScannedCall } from "../../../gateway/json-rpc/scan-result.ts";

const limits = { depthMax: 64, batchItemsMax: 100 };

/** Bodies are written here as bytes, one a character. */
const scan = (body: string) => scanRequest(Buffer.from(body, "latin1"), limits);
const object = (members: string) => `{"jsonrpc":"2.0",${members}}`;
const single = (call: ScannedCall) => ({ kind: "single", call });
const call = (method: string, idText?: string, paramsText?: string): ScannedCall => ({
  kind: "call",
  idText,
  method,
  paramsText,
});
const invalid = (message: string, idText = "null"): ScannedCall => ({
  kind: "invalid",
  idText,
  message: `Invalid Request: ${message}`,
});

const notAnObject = invalid("each item of a batch must be an object");
const noVersion = 'jsonrpc must be the string "2.0"';
const doubled = "a member is given twice, give each once";

t.test("the specification's own examples (JSON-RPC 2.0, section 7)", async (t) => {
  const examples: Record<string, [body: string, result: object]> = {
    "positional parameters": [
      '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}',
      single(call("subtract", "1", "[42, 23]")),
    ],
    "named parameters": [
      '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
      single(call("subtract", "3", '{"subtrahend": 23, "minuend": 42}')),
    ],
    "a notification": [
      '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}',
      single(call("update", undefined, "[1,2,3,4,5]")),
    ],
    "a notification without parameters": ['{"jsonrpc": "2.0", "method": "foobar"}', single(call("foobar"))],
    "invalid JSON": [
      '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
      {
        kind: "refused",
        reason: "parse",
        message: "Parse error: unexpected character at byte 39 of the body",
        idText: "null",
        offset: 39,
      },
    ],
    "an invalid request object": [
      '{"jsonrpc": "2.0", "method": 1, "params": "bar"}',
      single(invalid("method must be a string")),
    ],
    "a batch of invalid JSON": [
      '[\n  {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},\n  {"jsonrpc": "2.0", "method"\n]',
      {
        kind: "refused",
        reason: "parse",
        message: "Parse error: unexpected character at byte 101 of the body",
        idText: "null",
        offset: 101,
      },
    ],
    "an empty array": [
      "[]",
      {
        kind: "refused",
        reason: "request",
        message: "Invalid Request: the batch is empty, send at least one request",
        idText: "null",
      },
    ],
    "an invalid batch": ["[1]", { kind: "batch", calls: [notAnObject] }],
    "an invalid batch of three": [
      "[1,2,3]",
      { kind: "batch", calls: [notAnObject, notAnObject, notAnObject] },
    ],
    "a mixed batch": [
      `[
        {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
      ]`,
      {
        kind: "batch",
        calls: [
          call("sum", '"1"', "[1,2,4]"),
          call("notify_hello", undefined, "[7]"),
          call("subtract", '"2"', "[42,23]"),
          invalid(noVersion),
          call("foo.get", '"5"', '{"name": "myself"}'),
          call("get_data", '"9"'),
        ],
      },
    ],
    "a batch of notifications": [
      '[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]',
      {
        kind: "batch",
        calls: [call("notify_sum", undefined, "[1,2,4]"), call("notify_hello", undefined, "[7]")],
      },
    ],
  };
  for (const [what, [body, result]] of Object.entries(examples)) t.strictSame(scan(body), result, what);
});

t.test("requests are read in the order in which clients write them", async (t) => {
  const bodies: Record<string, string> = {
    viem: '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{}]}',
    ethers: '{"method":"eth_call","params":[{}],"id":1,"jsonrpc":"2.0"}',
    curl: '{"jsonrpc":"2.0","method":"eth_call","params":[{}],"id":1}',
    indented: '{\n  "jsonrpc" : "2.0",\r\n\t"id" : 1,\n  "method" : "eth_call",\n  "params" : [{}]\n}\n',
    "blanks around": ' \r\n\t{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{}]} \r\n\t',
    "escaped names":
      '{"\\u006asonrpc":"\\u0032.0","i\\u0064":1,"metho\\u0064":"eth_call","\\u0070arams":[{}]}',
    "more members":
      '{"a":[{"id":2}],"jsonrpc":"2.0","id":1,"b":"x","method":"eth_call","params":[{}],"c":null}',
  };
  for (const [who, body] of Object.entries(bodies))
    t.strictSame(scan(body), single(call("eth_call", "1", "[{}]")), who);
});

t.test("ids come out byte for byte", async (t) => {
  const ids = [
    "0",
    "-0",
    "1.0",
    "1e3",
    "-1.5E+3",
    "9007199254740993",
    "9".repeat(300),
    "null",
    '""',
    '"\\u0061"',
    '"a\\/b"',
    '"\xc3\xa9\xf0\x9f\x98\x80"',
    `"${"x".repeat(100_000)}"`,
  ];
  for (const id of ids) {
    const title = id.slice(0, 30);
    t.strictSame(scan(object(`"id":${id},"method":"m"`)), single(call("m", id)), title);
    t.strictSame(
      scan(`[${object(`"id": ${id} ,"method":"m"`)}]`),
      { kind: "batch", calls: [call("m", id)] },
      title,
    );
  }
});

t.test("a method is the name that its string spells", async (t) => {
  const spellings: Record<string, string> = {
    "eth_chain\\u0049d": "eth_chainId",
    "admin\\u005fpeers": "admin_peers",
    "\\u0065\\u0074\\u0068": "eth",
    'a\\\\u0062\\/\\"\\b\\f\\n\\r\\t': 'a\\u0062/"\b\f\n\r\t',
    "\\u00e9\xc3\xa9\\ud83d\\ude00\xf0\x9f\x98\x80": "éé😀😀",
    "\\u0000": "\0",
    "": "",
    __proto__: "__proto__",
  };
  for (const [written, method] of Object.entries(spellings)) {
    t.strictSame(scan(object(`"id":1,"method":"${written}"`)), single(call(method, "1")), written);
  }
});

t.test("params are an array or an object, or none", async (t) => {
  const expected: Record<string, ScannedCall> = {
    "[]": call("m", "1", "[]"),
    "{}": call("m", "1", "{}"),
    '[ "\\u0061\xc3\xa9" ]': call("m", "1", '[ "\\u0061\xc3\xa9" ]'),
    '{"__proto__":{"a":1},"a":1,"a":2}': call("m", "1", '{"__proto__":{"a":1},"a":1,"a":2}'),
    null: call("m", "1"),
  };
  for (const text of ['"x"', "1", "-1", "true", "false"]) {
    expected[text] = invalid("params must be an array or an object", "1");
  }
  for (const [text, result] of Object.entries(expected)) {
    t.strictSame(scan(object(`"id":1,"method":"m","params":${text}`)), single(result), text);
  }
});

t.test("an object that is no request is refused by itself, with its id where that is legal", async (t) => {
  const objects: Record<string, ScannedCall> = {
    "{}": invalid(noVersion),
    " { } ": invalid(noVersion),
    '{"id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"jsonrpc":"1.0","id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"jsonrpc":"2.00","id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"jsonrpc":"2.0\\u0000","id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"jsonrpc":2.0,"id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"jsonrpc":["2.0"],"id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"JSONRPC":"2.0","id":1,"method":"m"}': invalid(noVersion, "1"),
    '{"jsonrpc":"2.0","id":"a"}': invalid("method is missing, give its name as a string", '"a"'),
    '{"jsonrpc":"2.0","id":1,"Method":"m"}': invalid("method is missing, give its name as a string", "1"),
    '{"jsonrpc":"2.0","id":1,"method":null}': invalid("method must be a string", "1"),
    '{"jsonrpc":"2.0","id":1,"method":["m"]}': invalid("method must be a string", "1"),
    '{"jsonrpc":"2.0","id":true,"method":"m"}': invalid("id must be a string, a number or null"),
    '{"jsonrpc":"2.0","id":false,"method":"m"}': invalid("id must be a string, a number or null"),
    '{"jsonrpc":"2.0","id":[1],"method":"m"}': invalid("id must be a string, a number or null"),
    '{"jsonrpc":"2.0","id":{},"method":"m"}': invalid("id must be a string, a number or null"),
    '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"m"}}': invalid(noVersion),
  };
  for (const [text, result] of Object.entries(objects)) {
    t.strictSame(scan(text), single(result), text);
    const batch = { kind: "batch", calls: [call("m", "1"), result, call("m", "2")] };
    t.strictSame(
      scan(`[${object('"id":1,"method":"m"')},${text},${object('"id":2,"method":"m"')}]`),
      batch,
      text,
    );
  }
});

t.test("what is no object is no item of a batch", async (t) => {
  for (const text of ["1", '"x"', "null", "true", "[]", '[{"jsonrpc":"2.0","method":"m"}]']) {
    t.strictSame(scan(`[ ${text} , ${text} ]`), { kind: "batch", calls: [notAnObject, notAnObject] }, text);
  }
});

t.test("a member that stands twice in a request makes it invalid", async (t) => {
  const rest = '"id":1,"method":"m"';
  const twice: Record<string, [members: string, idText: string]> = {
    jsonrpc: [`${rest},"jsonrpc":"2.0"`, "1"],
    method: [`${rest},"method":"m"`, "1"],
    "method, once escaped": [`${rest},"\\u006dethod":"admin_peers"`, "1"],
    params: [`${rest},"params":[],"params":[]`, "1"],
    "params, once null": [`${rest},"params":null,"params":[]`, "1"],
    id: [`${rest},"id":1`, "null"],
    "id, once null": [`${rest},"id":null`, "null"],
    "id, once escaped": [`${rest},"\\u0069d":2`, "null"],
    "id three times": [`${rest},"id":2,"id":3`, "null"],
    "another member": [`"x":1,${rest},"x":1`, "1"],
    "another member, once escaped": [`"x":1,${rest},"\\u0078":1`, "1"],
    "another member, escaped in two ways": [`"\\u006a":1,${rest},"\\u006A":1`, "1"],
    "another member, once in UTF-8": [`"\xc3\xa9":1,${rest},"\\u00e9":1`, "1"],
    "another member, once with an escaped pair": [`"\xf0\x9f\x98\x80":1,${rest},"\\ud83d\\ude00":1`, "1"],
    "another member, short and long escape": [`"\\n":1,${rest},"\\u000a":1`, "1"],
    __proto__: [`"__proto__":1,${rest},"__proto__":1`, "1"],
    "the empty name": [`"":1,${rest},"":1`, "1"],
  };
  for (const [what, [members, idText]] of Object.entries(twice)) {
    t.strictSame(scan(object(members)), single(invalid(doubled, idText)), what);
  }
});

t.test("names that only look alike are not the same member", async (t) => {
  const members =
    '"id":1,"method":"m","ID":2,"i\\\\u0064":2,"Method":3,"id ":4,"constructor":5,"hasOwnProperty":6';
  t.strictSame(scan(object(members)), single(call("m", "1")));
});

t.test("nothing of one item is left for the next", async (t) => {
  const items = [
    object('"id":1,"method":"m","params":[1],"x":1'),
    "{}",
    object('"method":"n","x":2'),
    '{"id":[]}',
  ];
  const batch = {
    kind: "batch",
    calls: [
      call("m", "1", "[1]"),
      invalid(noVersion),
      call("n"),
      invalid("id must be a string, a number or null"),
    ],
  };
  t.strictSame(scan(`[${items.join(",")}]`), batch);
});
