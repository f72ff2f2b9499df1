import fc from "fast-check";
import t from "tap";
import { canonicalParams } from "../../../../gateway/methods/block-parameter/canonical-params.ts";
import "../../../helpers/property-seed.ts";

const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const meaning = (text: string): unknown => JSON.parse(Buffer.from(text, "latin1").toString());

t.test("the same parameters, however they are written, have one text", async (t) => {
  const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  const canonical = `["${address.toLowerCase()}","latest"]`;
  for (const text of [
    `["${address}","latest"]`,
    `[ "${address}" ,\t"latest"\r\n]`,
    `["${address}","l\\u0061test"]`,
    canonical,
  ]) {
    t.equal(canonicalParams(text), canonical);
  }
  t.equal(
    canonicalParams('[ {"to" : "0xAB", "data":"0xCDEF"} , { } ]'),
    '[{"to":"0xab","data":"0xcdef"},{}]',
  );
});

t.test("what may mean something else stays", async (t) => {
  for (const text of [
    '["0XAB"]', // Besu's parser may refuse a capital X
    '["0xABG"]',
    '["AB"]',
    '[{"0xAB":{"fromBlock":1}}]', // a name
    '["\\u0022A\\\\"]'.replace("\\u0022", '\\"'),
    '["A b"]',
    "[1.0,1E3,-0]",
    '[{"a":1,"a":2}]',
    '[{"b":1,"a":2}]',
  ]) {
    t.equal(canonicalParams(text), text);
  }
});

t.test("a text that is too long to look at stays as it is", async (t) => {
  const text = `[ "0x${"AB".repeat(600)}" ]`;
  t.equal(canonicalParams(text), text);
});

/** JSON with blanks, capitals and escapes in random places. */
const written = fc.tuple(
  fc.array(
    fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.stringMatching(/^0x[0-9a-fA-F]{0,8}$/),
      fc.constantFrom("latest", 'a"b\\', "größe 🦊", "\u00a0 x", "0xAB ", ":", '":'),
      fc.dictionary(fc.stringMatching(/^0x[A-F]{1,3}$/), fc.constantFrom("0xA", "B")),
    ),
    { maxLength: 4 },
  ),
  fc.constantFrom(undefined, 1, "\t", "\n"),
);

t.test("no text has another meaning than what it was made of, hex in lower case aside", async (t) => {
  let changed = 0;
  fc.assert(
    fc.property(written, ([params, space]) => {
      const text = latin1(JSON.stringify(params, null, space));
      // What is longer stays as it is.
      fc.pre(text.length <= 1024);
      const canonical = canonicalParams(text);
      if (canonical !== text) changed += 1;
      t.strictSame(meaning(canonical), lowerHex(meaning(text)));
      t.equal(canonicalParams(canonical), canonical, "and it stays so");
      t.equal(canonical, canonicalParams(latin1(JSON.stringify(params))), "blanks have no say");
    }),
    { numRuns: 500 },
  );
  t.ok(changed > 100, `${changed} of 500 were written otherwise`);
});

function lowerHex(value: unknown): unknown {
  if (typeof value === "string")
    return /^0x[0-9a-f]*$/i.test(value) && value[1] === "x" ? value.toLowerCase() : value;
  if (Array.isArray(value)) return value.map(lowerHex);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lowerHex(member)]));
}
