import { randomInt } from "node:crypto";
import t from "tap";
import { scanRequest } from "../../../gateway/json-rpc/scan.ts";
import type { ScanResult } from "../../../gateway/json-rpc/scan-result.ts";
import { createGenerator } from "./scan-generator.ts";
import { type Expected, type ExpectedCall, expectedOf } from "./scan-oracle.ts";

/** Another one for each run, so that runs add up; a failure prints its own, and SCAN_SEED repeats it. */
const seed = Number(process.env["SCAN_SEED"] ?? randomInt(2 ** 31));
/** The rarest outcome comes about once in 600 of them. */
const cases = process.env["CI"] === undefined ? 25_000 : 100_000;

/** All that can come of a body; a number in a message is N. */
const allOutcomes = [
  "single",
  "batch",
  "call",
  "notification",
  "Parse error: the body is empty, send a JSON-RPC N.N request",
  "Parse error: the body begins with a byte-order mark, send UTF-N without one",
  "Parse error: the body is not valid UTF-N",
  "Parse error: the body ends too early, at byte N",
  "Parse error: unexpected character at byte N of the body",
  "Parse error: control character in a string at byte N of the body, write it as an escape",
  "Parse error: backslash in a string at byte N of the body without one of JSON's escapes behind it",
  "Parse error: half of a surrogate pair at byte N of the body, write both or the character itself",
  "Parse error: text after the end of the request at byte N of the body, send one object or one array",
  "Invalid Request: send an object, or an array of objects",
  "Invalid Request: the batch is empty, send at least one request",
  "Invalid Request: a batch has at most N items, send the others in another",
  "Invalid Request: nested deeper than N levels at byte N of the body",
  "Invalid Request: number at byte N of the body is longer than N characters",
  "Invalid Request: number at byte N of the body is greater than a double can hold",
  "Invalid Request: member name at byte N of the body is longer than N bytes",
  "Invalid Request: each item of a batch must be an object",
  "Invalid Request: at most N members are read, send fewer",
  "Invalid Request: a member is given twice, give each once",
  "Invalid Request: id must be a string, a number or null",
  'Invalid Request: jsonrpc must be the string "N.N"',
  "Invalid Request: method is missing, give its name as a string",
  "Invalid Request: method must be a string",
  "Invalid Request: params must be an array or an object",
];

t.comment(`SCAN_SEED=${seed}`);

t.test("bodies whole and damaged are read as JSON.parse and a slow oracle read them", async (t) => {
  const generator = createGenerator(seed);
  const seen = new Map<string, number>();
  for (let number = 0; number < cases; number += 1) {
    // Low limits, so that they are met and passed all the time.
    const limits = {
      depthMax: 3 + generator.random.below(9),
      batchItemsMax: 1 + generator.random.below(6),
    };
    const body = generator.random.chance(2) ? generator.body() : generator.damagedBody();
    const scanned = scanRequest(body, limits);
    const difference = differenceOf(scanned, expectedOf(body, limits));
    if (difference !== undefined) {
      t.fail(difference, { seed, number, limits, scanned, body: body.toString("latin1") });
      return;
    }
    for (const outcome of outcomesOf(scanned)) seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  }
  // Each rule was broken and each shape was met, often enough to mean something; nothing else was said.
  const rare = allOutcomes.filter((outcome) => (seen.get(outcome) ?? 0) < cases / 2000);
  t.strictSame(rare, []);
  t.strictSame([...seen.keys()].sort(), [...allOutcomes].sort());
});

t.test("the usual way to write a request and any other give the same call", async (t) => {
  const { request, render, random } = createGenerator(seed);
  const limits = { depthMax: 64, batchItemsMax: 100 };
  let accepted = 0;
  for (let number = 0; number < cases / 10; number += 1) {
    const members = request();
    const bodies = [render(members, "usual"), render(members, "odd"), render(random.shuffle(members), "odd")];
    const [usual, ...others] = bodies.map((body) => callOf(scanRequest(Buffer.from(body), limits)));
    if (others.some((other) => other !== usual)) {
      t.fail("they differ", { seed, number, bodies });
      return;
    }
    if (usual !== "refused") accepted += 1;
  }
  t.ok(accepted > cases / 20, "most of them were calls");
});

/** Of a refusal only that it is one: where two rules are broken, the order of members decides which is named. */
function callOf(scanned: ScanResult): string {
  return scanned.kind === "refused" ? scanned.kind : JSON.stringify(scanned);
}

/** What the scanner said, places and limits aside. */
function outcomesOf(scanned: ScanResult): string[] {
  if (scanned.kind === "refused") return [scanned.message.replace(/\d+/g, "N")];
  const calls = scanned.kind === "single" ? [scanned.call] : scanned.calls;
  return [
    scanned.kind,
    ...calls.map((call) => {
      if (call.kind === "invalid") return call.message.replace(/\d+/g, "N");
      return call.idText === undefined ? "notification" : "call";
    }),
  ];
}

/** Undefined where the scanner found what is right, else what is wrong with it. */
function differenceOf(scanned: ScanResult, expected: Expected): string | undefined {
  if (scanned.kind === "refused") {
    if (expected.kind === "no JSON")
      return scanned.idText === "null" || scanned.reason === "request" ? undefined : "id";
    if (expected.kind !== "refused") return "refused without a reason";
    if (!expected.reasons.has(scanned.reason)) return "refused for another reason";
    const idText = scanned.reason === "parse" ? "null" : expected.idBefore(scanned.offset ?? 0);
    return scanned.idText === idText ? undefined : `id of the refusal, not ${idText}`;
  }
  if (expected.kind !== scanned.kind) return `accepted, not ${expected.kind}`;
  const calls = scanned.kind === "single" ? [scanned.call] : scanned.calls;
  const found = calls.map(
    (call): ExpectedCall => (call.kind === "call" ? call : { kind: "invalid", idText: call.idText }),
  );
  const [is, shouldBe] = [found, expected.calls].map((list) => JSON.stringify(list));
  return is === shouldBe ? undefined : `calls, not ${shouldBe}`;
}
