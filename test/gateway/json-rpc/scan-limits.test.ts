import t from "tap";
import { scanRequest } from "../../../gateway/json-rpc/scan.ts";
import type { ScanLimits } from "../../../gateway/json-rpc/scan-result.ts";

const usualLimits = { depthMax: 64, batchItemsMax: 100 };

const scan = (body: string, limits: ScanLimits = usualLimits) =>
  scanRequest(Buffer.from(body, "latin1"), limits);
const object = (members: string) => `{"jsonrpc":"2.0","id":7,"method":"m",${members}}`;
const withParam = (text: string) => object(`"params":[${text}]`);
const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}0${"}".repeat(depth)}`;
const batchOf = (count: number, item = object('"x":0')) => `[${Array<string>(count).fill(item).join(",")}]`;
const refused = (reason: string, message: string, more: { idText?: string; offset?: number } = {}) => ({
  kind: "refused",
  reason,
  message,
  idText: "null",
  ...more,
});

t.test("arrays and objects nest 64 deep and no deeper", async (t) => {
  const fine: Record<string, string> = {
    arrays: withParam(arrays(62)),
    objects: withParam(objects(62)),
    "arrays and objects": withParam(`${'[{"a":'.repeat(31)}0${"}]".repeat(31)}`),
    "many side by side": withParam(Array<string>(100).fill(arrays(62)).join(",")),
    "a member of no meaning": object(`"x":${arrays(63)}`),
    "in a batch": `[${withParam(arrays(61))}]`,
    "a batch's other items": `[${arrays(63)}]`,
    "brackets in a string": withParam(`"${"[".repeat(1000)}"`),
  };
  for (const [what, body] of Object.entries(fine)) t.not(scan(body).kind, "refused", what);

  const start = withParam("").length - 2;
  const message = (offset: number) =>
    `Invalid Request: nested deeper than 64 levels at byte ${offset} of the body`;
  t.strictSame(
    scan(withParam(arrays(63))),
    refused("request", message(start + 62), { idText: "7", offset: start + 62 }),
  );
  const inObjects = start + 62 * '{"a":'.length;
  t.strictSame(
    scan(withParam(objects(63))),
    refused("request", message(inObjects), { idText: "7", offset: inObjects }),
  );
  t.match(scan(object(`"x":${arrays(64)}`)), { kind: "refused", reason: "request", idText: "7" });
  t.match(scan(`[${withParam(arrays(62))}]`), { kind: "refused", reason: "request", idText: "null" });
  t.strictSame(scan(arrays(65)), refused("request", message(64), { offset: 64 }), "the batch's own items");
  t.match(scan("[".repeat(1_000_000)), { reason: "request", message: /64/ }, "never closed");
  t.match(
    scan(withParam('{"a":'.repeat(100_000))),
    { reason: "request", message: /64/ },
    "never closed, in objects",
  );
});

t.test("the depth is the configured one", async (t) => {
  const limits = { depthMax: 500, batchItemsMax: 1 };
  t.match(scan(withParam(arrays(498)), limits), { kind: "single" });
  t.match(scan(withParam(objects(499)), limits), { kind: "refused", message: /500 levels/ });
  t.match(scan("{}", { depthMax: 1, batchItemsMax: 1 }), { kind: "single" });
  t.match(scan("[{}]", { depthMax: 1, batchItemsMax: 1 }), { kind: "refused", message: /1 levels/ });
});

t.test("numbers of up to 1 000 characters that a double holds pass, no others", async (t) => {
  const fine = [
    "1e308",
    "-1e308",
    "1e-400",
    "0e99999",
    `1${"0".repeat(308)}`,
    `0.${"1".repeat(998)}`,
    `-0.${"1".repeat(997)}`,
  ];
  for (const number of fine) {
    t.match(
      scan(withParam(number)),
      { kind: "single", call: { paramsText: `[${number}]` } },
      number.slice(0, 20),
    );
    t.match(scan(`[${withParam(number)}]`), { kind: "batch" }, number.slice(0, 20));
  }
  const offset = withParam("").length - 2;
  const tooLong = `Invalid Request: number at byte ${offset} of the body is longer than 1000 characters`;
  for (const number of [
    "1".repeat(1001),
    `0.${"1".repeat(999)}`,
    `-0.${"1".repeat(998)}`,
    `1e${"0".repeat(999)}`,
  ]) {
    t.strictSame(
      scan(withParam(number)),
      refused("request", tooLong, { idText: "7", offset }),
      number.slice(0, 20),
    );
  }
  const tooGreat = `Invalid Request: number at byte ${offset} of the body is greater than a double can hold`;
  for (const number of [
    "1e400",
    "-1e400",
    "1E+309",
    "1.8e308",
    `1${"0".repeat(309)}`,
    `2${"0".repeat(308)}.5`,
    "9".repeat(1000),
  ]) {
    t.strictSame(
      scan(withParam(number)),
      refused("request", tooGreat, { idText: "7", offset }),
      number.slice(0, 20),
    );
  }
  t.match(scan("1e400"), { reason: "request", idText: "null" }, "alone");
  t.match(
    scan(`{"jsonrpc":"2.0","id":1e400,"method":"m"}`),
    { reason: "request", idText: "null" },
    "as the id",
  );
});

t.test("names of up to 1 024 bytes pass, no longer ones", async (t) => {
  const name = "n".repeat(1024);
  t.match(scan(withParam(`{"${name}":1}`)), { kind: "single", call: { kind: "call" } });
  t.match(scan(object(`"${name}":1`)), { kind: "single", call: { kind: "call" } });
  t.match(scan(withParam(`"${name.repeat(100)}"`)), { kind: "single" }, "a string that is no name");
  const inParams = withParam("{").length - 2;
  const message = (offset: number) =>
    `Invalid Request: member name at byte ${offset} of the body is longer than 1024 bytes`;
  t.strictSame(
    scan(withParam(`{"${name}n":1}`)),
    refused("request", message(inParams), { idText: "7", offset: inParams }),
    "in params",
  );
  const atTop = object("").length - 1;
  t.strictSame(
    scan(object(`"${name}n":1`)),
    refused("request", message(atTop), { idText: "7", offset: atTop }),
    "in the request",
  );
  t.match(scan(withParam(`{"${"\\u006e".repeat(171)}":1}`)), { reason: "request" }, "written with escapes");
});

t.test("a refused request is answered with its id where that stands before what is refused", async (t) => {
  const start = '{"jsonrpc":"2.0",';
  const refusedId = (members: string) => {
    const scanned = scan(`${start}${members}}`);
    return scanned.kind === "refused" ? scanned.idText : "not refused";
  };
  t.equal(refusedId('"id":"\\u0061","params":[1e999]'), '"\\u0061"');
  t.equal(refusedId('"params":[1e999],"id":7'), "null", "behind it");
  t.equal(refusedId('"id":[7],"params":[1e999]'), "null", "not legal");
  t.equal(refusedId('"id":7,"id":8,"params":[1e999]'), "null", "twice");
  t.match(
    scan(`[${start}"id":7},${start}"id":8,"params":[1e999]}]`),
    { kind: "refused", idText: "null" },
    "batch",
  );
  t.match(scan(`${start}"id":7} x`), { kind: "refused", reason: "parse", idText: "null" }, "no JSON");
});

t.test("a batch has at most as many items as configured", async (t) => {
  const scanned = scan(batchOf(100));
  t.equal(scanned.kind === "batch" && scanned.calls.length, 100);
  const offset = batchOf(100).length;
  const message = (max: number) =>
    `Invalid Request: a batch has at most ${max} items, send the others in another`;
  t.strictSame(scan(batchOf(101)), refused("request", message(100), { offset }));
  t.match(scan(batchOf(101, "1")), { kind: "refused", message: message(100) }, "whatever its items are");
  t.match(scan(batchOf(3), { depthMax: 64, batchItemsMax: 2 }), { kind: "refused", message: message(2) });
  t.match(scan("[1,]", { depthMax: 64, batchItemsMax: 2 }), { reason: "parse" });
});

t.test("an empty batch is refused, blanks or not, and no JSON behind it is overlooked", async (t) => {
  for (const body of ["[]", " [ ] ", "[\n]\n"])
    t.match(scan(body), { reason: "request", message: /batch is empty/ });
  for (const body of ["[] []", "[]x", "[]]"])
    t.match(scan(body), { reason: "parse", message: /text after the end/ });
});

t.test("a body that is a value alone is no request", async (t) => {
  for (const body of ["1", " -1.5e3 ", '"eth_chainId"', "null", "true", "false", '"\xc3\xa9"']) {
    t.strictSame(
      scan(body),
      refused("request", "Invalid Request: send an object, or an array of objects"),
      body,
    );
  }
});

t.test("a request has at most 32 members", async (t) => {
  const more = (count: number) =>
    Array.from({ length: count }, (_, index) => `"more${index}":${index}`).join(",");
  t.match(scan(object(more(29))), { call: { kind: "call", idText: "7" } });
  const message = "Invalid Request: at most 32 members are read, send fewer";
  t.strictSame(scan(object(more(30))), { kind: "single", call: { kind: "invalid", idText: "7", message } });
  const late = `{${more(50)},"jsonrpc":"2.0","method":"m","id":7}`;
  t.strictSame(
    scan(late),
    { kind: "single", call: { kind: "invalid", idText: "7", message } },
    "the id behind them",
  );
  const doubled = `{"id":7,${more(50)},"jsonrpc":"2.0","method":"m","id":7}`;
  t.match(scan(doubled), { call: { kind: "invalid", idText: "null", message: /twice/ } }, "two ids");
  t.match(scan(`{${more(100_000)}}`), { call: { kind: "invalid" } });
});

t.test("a body without text, with a byte-order mark, or not in UTF-8 is a parse error", async (t) => {
  const good = object('"x":"\xc3\xa9"');
  t.match(scan(good), { kind: "single" });
  const empty = refused("parse", "Parse error: the body is empty, send a JSON-RPC 2.0 request");
  for (const body of ["", " ", " \r\n\t"]) t.strictSame(scan(body), empty, JSON.stringify(body));
  const mark = refused(
    "parse",
    "Parse error: the body begins with a byte-order mark, send UTF-8 without one",
  );
  for (const body of [good, "", "[]"]) t.strictSame(scan(`\xef\xbb\xbf${body}`), mark);
  for (const body of [
    "\xef",
    "\xef\xbb",
    `\xef\xbbx${good}`,
    ` \xef\xbb\xbf${good}`,
    `${good}\xef\xbb\xbf`,
  ]) {
    t.match(scan(body), { kind: "refused", reason: "parse" }, JSON.stringify(body));
  }
  for (const encoding of ["utf16le", "ucs2"] as const) {
    t.match(scanRequest(Buffer.from(good, encoding), usualLimits), { kind: "refused", reason: "parse" });
  }
  const notUtf8 = refused("parse", "Parse error: the body is not valid UTF-8");
  t.strictSame(scan(object('"x":"\xff"')), notUtf8);
  t.strictSame(scan(object('"\xc3":1')), notUtf8);
  t.strictSame(scan(`[${object('"x":"\xed\xa0\x80"')}]`), notUtf8);
  t.strictSame(scan('"\xc3"'), notUtf8, "before it is told to be no request");
});

t.test(
  "bodies above a mebibyte, views into larger memory and plain byte arrays are read alike",
  async (t) => {
    const long = "ab".repeat(700_000);
    t.match(scan(withParam(`"${long}"`)), { call: { kind: "call", paramsText: `["${long}"]` } });
    t.match(scan(withParam(`"${long}`)), { reason: "parse", message: /ends too early/ });
    const mebibyte = withParam(`"${"x".repeat(1024 * 1024 - withParam('""').length)}"`);
    t.equal(mebibyte.length, 1024 * 1024);
    for (let more = -1; more <= 6; more += 1) {
      const x = "x".repeat(1 + more);
      t.match(scan(`${mebibyte.slice(0, -4)}${x}"]}`), { call: { kind: "call" } }, `a mebibyte and ${more}`);
      t.match(
        scan(`${mebibyte.slice(0, -4)}xxx${x}`),
        { message: /ends too early/ },
        `the same, cut in a string`,
      );
    }

    const memory = new Uint8Array(Buffer.from(`]]}${withParam("1")}}]`, "latin1"));
    t.match(scanRequest(memory.subarray(3, -2), usualLimits), { call: { kind: "call", paramsText: "[1]" } });
    t.match(scanRequest(memory.subarray(3, -3), usualLimits), { reason: "parse", message: /ends too early/ });
  },
);

t.test("no message holds a client's text", async (t) => {
  const secret = "s3cr3t";
  const bodies = [
    `{"${secret}`,
    `{"jsonrpc":"${secret}"}`,
    `{"jsonrpc":"2.0","id":["${secret}"]}`,
    object(`"${secret}":1,"${secret}":2`),
    object(`"params":"${secret}"`),
    `${object('"x":1')}${secret}`,
    `"${secret}"`,
    `{"${secret.repeat(200)}":1}`,
    `["${secret}"]`,
  ];
  for (const body of bodies) t.notMatch(JSON.stringify(scan(body)), secret, body.slice(0, 40));
});
