import fc from "fast-check";
import t from "tap";
import { joinChunks } from "../../../../gateway/json-rpc/scan-source.ts";
import { cutArray, cutLone } from "../../../../gateway/upstream/pool/cut-answers.ts";
import { cutArrayCarefully, cutLoneCarefully } from "../../../../gateway/upstream/pool/cut-carefully.ts";
import type { WholeAnswer } from "../../../../gateway/upstream/upstream-result.ts";
import "../../../helpers/property-seed.ts";

const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const joined = (answer: WholeAnswer | undefined, idText: string) =>
  answer === undefined ? undefined : answer.beforeId + idText + answer.afterId;

/** Answers as validators write them, the third member's text given. */
const usualItem = (id: number, member: string) => `{"jsonrpc":"2.0","id":${id},${member}}`;
const usualArray = (members: readonly string[]) =>
  `[${members.map((member, index) => usualItem(index + 1, member)).join(",")}]`;

/** Whatever JSON can be, and texts that look like the seams of an array. */
const seams = ['},{"jsonrpc":"2.0","id":2,"result":"', '"}', "\\", '\\"', "]", "größe 🦊", ""];
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(...seams),
  fc.array(fc.constantFrom(...seams)),
  fc.stringMatching(/^0x[0-9a-f]{0,64}$/),
);
const member = fc.oneof(
  value.map((result) => `"result":${JSON.stringify(result)}`),
  fc
    .record({ code: fc.integer(), message: fc.string(), data: value })
    .map((error) => `"error":${JSON.stringify(error)}`),
);

t.test("each answer of an array comes out with every byte but the id", (t) => {
  let fast = 0;
  fc.assert(
    fc.property(fc.array(member, { minLength: 1, maxLength: 12 }), (members) => {
      const body = Buffer.from(usualArray(members));
      const expected = members.map((text) => latin1(usualItem(99, text)));
      const quick = cutArray(body, members.length);
      if (quick !== undefined) {
        fast += 1;
        t.strictSame(
          quick.map((answer) => joined(answer, "99")),
          expected,
        );
      }
      const careful = cutArrayCarefully(body, members.length);
      if (!members.some(isInfinite)) {
        t.strictSame(
          careful.map((answer) => joined(answer, "99")),
          expected,
        );
      }
    }),
    { numRuns: 400 },
  );
  t.ok(fast > 200, `the quick way serves most of them: ${fast} of 400`);
  t.end();
});

/** JSON.parse makes 1e999 an infinity; nothing here does, but the careful way would still pass its bytes on. */
function isInfinite(text: string): boolean {
  return text.includes("Infinity");
}

t.test("the same for one that was asked alone", (t) => {
  fc.assert(
    fc.property(member, (text) => {
      const body = Buffer.from(usualItem(1, text));
      const expected = latin1(usualItem(99, text));
      const quick = cutLone(body);
      if (quick !== undefined) t.equal(joined(quick, "99"), expected);
      t.equal(joined(cutLoneCarefully(body, 1), "99"), expected);
    }),
    { numRuns: 200 },
  );
  t.end();
});

t.test("what validators usually answer goes the quick way", (t) => {
  const members = [
    '"result":"0x228d"',
    '"result":null',
    '"result":true',
    '"result":""',
    '"result":[]',
    '"result":[{"logIndex":"0x0"}]',
    '"result":{"number":"0x1","transactions":[]}',
    '"error":{"code":-32602,"message":"Invalid params"}',
    '"error":{"code":3,"message":"Execution reverted (nope)","data":"0x08"}',
  ];
  t.strictSame(
    cutArray(Buffer.from(usualArray(members)), members.length)?.map((answer) => joined(answer, "x")),
    members.map((text) => `{"jsonrpc":"2.0","id":x,${text}}`),
  );
  for (const text of members)
    t.equal(joined(cutLone(Buffer.from(usualItem(1, text))), "1"), usualItem(1, text));
  t.end();
});

t.test("any order, spacing and order of members is read the careful way", (t) => {
  const answers: [string, string][] = [
    [
      '[{"jsonrpc":"2.0","id":2,"result":"b"},{"jsonrpc":"2.0","id":1,"result":"a"}]',
      '{"jsonrpc":"2.0","id":9,"result":"a"}|{"jsonrpc":"2.0","id":9,"result":"b"}',
    ],
    [
      ' [ {"result" : "a" , "id" : 1 , "jsonrpc" : "2.0"} ,\n{"id":2,"jsonrpc":"2.0","result":[1, 2]} ]\n',
      '{"result" : "a" , "id" : 9 , "jsonrpc" : "2.0"}|{"id":9,"jsonrpc":"2.0","result":[1, 2]}',
    ],
    [
      '[{"jsonrpc":"2.0","id":1,"result":{"id":2}},{"jsonrpc":"2.0","id":2,"result":"]},{"}]',
      '{"jsonrpc":"2.0","id":9,"result":{"id":2}}|{"jsonrpc":"2.0","id":9,"result":"]},{"}',
    ],
  ];
  for (const [body, expected] of answers) {
    const careful = cutArrayCarefully(Buffer.from(body), 2);
    t.equal(careful.map((answer) => joined(answer, "9")).join("|"), expected);
  }
  t.end();
});

t.test("an answer that is missing, there twice, for somebody else or none at all is not taken", (t) => {
  const one = usualItem(1, '"result":"a"');
  const two = usualItem(2, '"result":"b"');
  const three = usualItem(3, '"result":"c"');
  const found = (body: string, count: number) =>
    (cutArray(Buffer.from(body), count) ?? cutArrayCarefully(Buffer.from(body), count))
      .map((answer) => (answer === undefined ? "-" : "+"))
      .join("");
  t.equal(found(`[${one},${three}]`, 3), "+-+");
  t.equal(found(`[${one},${two}]`, 3), "++-");
  t.equal(found(`[${one},${two},${two}]`, 2), "+-", "nobody can tell which of the two is right");
  t.equal(found(`[${one},${two},${three}]`, 2), "++", "one too many is nobody's");
  t.equal(found(`[${one},{"jsonrpc":"2.0","id":2}]`, 2), "+-");
  t.equal(found(`[${one},{"jsonrpc":"2.0","id":2,"result":1,"error":{"code":1,"message":""}}]`, 2), "+-");
  t.equal(
    found(`[${one},{"jsonrpc":"2.0","id":"2","result":1}]`, 2),
    "+-",
    "an id of another type is another id",
  );
  for (const body of [
    "",
    "[",
    "[]",
    "{}",
    "null",
    '"x"',
    `[${one},${two}`,
    `${one},${two}`,
    `[${one}${two}]`,
    one,
  ]) {
    t.equal(found(body, 2), "--", body);
  }
  t.end();
});

t.test("half an answer between good heads is not taken for one", (t) => {
  const bad = [
    '"result":"a',
    '"result":{"a":1',
    '"result":[1',
    '"res":"a"',
    '"result":',
    '"error":"x"',
    '"result":tru',
    '"error":{"code":1,}',
    '"error":{oops}',
    '"result":{oops}',
    '"result":{"a":1,}',
    '"result":{"a" 1}',
    '"result":[1,,2]',
    '"result":["a" "b"]',
    '"result":[{]}',
    '"result":"a\\q"',
    '"result":"a\n"',
    '"result":"\\ud8"',
    '"result":01',
    '"result":{"a":1}}',
    '"result":1,"id":7',
  ];
  for (const text of bad) {
    const body = Buffer.from(`[{"jsonrpc":"2.0","id":1,${text}},{"jsonrpc":"2.0","id":2,"result":"b"}]`);
    t.equal(cutArray(body, 2), undefined, text);
    t.equal(cutLone(Buffer.from(`{"jsonrpc":"2.0","id":1,${text}}`)), undefined, `${text} alone`);
  }
  t.end();
});

t.test("whatever was done to a body, what is cut out of it is JSON with the id that was asked for", (t) => {
  const answer = (text: string) => JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
  let cut = 0;
  fc.assert(
    fc.property(
      fc.array(member, { minLength: 1, maxLength: 4 }),
      fc.nat(),
      fc.constantFrom("", "{", "}", "[", "]", '"', ",", ":", "\\", "0", "x", "\n", "\0", " "),
      fc.nat(2),
      (members, place, put, taken) => {
        const text = latin1(usualArray(members));
        const at = place % text.length;
        const changed = Buffer.from(text.slice(0, at) + put + text.slice(at + taken), "latin1");
        for (const found of cutArray(changed, members.length) ?? []) {
          cut += 1;
          t.equal(answer(joined(found, "99") ?? "").id, 99);
        }
        const lone = cutLone(changed.subarray(1, -1));
        if (lone !== undefined) t.equal(answer(joined(lone, "99") ?? "").id, 99);
      },
    ),
    { numRuns: 3000 },
  );
  t.ok(cut > 100, `${cut} were cut`);
  t.end();
});

t.test("a long body is cut as a short one is, and what is wrong at its very end is seen", (t) => {
  const long = `"result":"${"ab".repeat(1024 * 1024)}"`;
  const deep = `"result":${"[".repeat(5000)}${"]".repeat(5000)}`;
  const chunks = (text: string) => text.match(/.{1,65536}/gs)?.map((piece) => Buffer.from(piece)) ?? [];
  for (const join of [
    (text: string) => Buffer.from(text),
    (text: string) => joinChunks(chunks(text), text.length),
  ]) {
    const whole = usualArray(['"result":"0x1"', long, '"result":[]']);
    t.strictSame(
      cutArray(join(whole), 3)?.map((answer) => joined(answer, "9")?.length),
      [usualItem(9, '"result":"0x1"').length, usualItem(9, long).length, usualItem(9, '"result":[]').length],
    );
    for (const cutShort of [whole.slice(0, -1), whole.slice(0, -2), whole.slice(0, -4), `${whole}]`]) {
      t.equal(cutArray(join(cutShort), 3), undefined);
    }
    t.equal(joined(cutLone(join(usualItem(1, long))), "1")?.length, usualItem(1, long).length);
    t.equal(cutLone(join(usualItem(1, deep))), undefined, "too deep for the quick way");
    t.equal(joined(cutLoneCarefully(join(usualItem(1, deep)), 1), "1"), usualItem(1, deep));
  }
  t.end();
});

t.test("bytes that are no UTF-8 are no answer", (t) => {
  const body = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"\xff"}', "latin1");
  t.equal(cutLone(body), undefined);
  t.equal(cutLoneCarefully(body, 1), undefined);
  t.strictSame(cutArrayCarefully(Buffer.concat([Buffer.from("["), body, Buffer.from("]")]), 1), [undefined]);
  t.end();
});
