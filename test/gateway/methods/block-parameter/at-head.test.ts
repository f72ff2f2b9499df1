import fc from "fast-check";
import t from "tap";
import type { About, Call } from "../../../../gateway/methods/call.ts";
import { readMethodTable } from "../../../../gateway/methods/method-table.ts";
import { atHead } from "../../../../gateway/pipeline/stages/at-head.ts";
import type { AnnouncedHead } from "../../../../gateway/upstream/announced-head.ts";
import { ownWholeAnswer } from "../../../../gateway/upstream/upstream-result.ts";
import "../../../helpers/property-seed.ts";

const { rules } = readMethodTable(new URL("../../../../config/methods.yaml", import.meta.url).pathname);
const head: AnnouncedHead = {
  number: 1000,
  bigNumber: 1000n,
  numberText: '"0x3e8"',
  blockNumber: ownWholeAnswer('"0x3e8"'),
};
const address = `0x${"ab".repeat(20)}`;
const hash = `0x${"11".repeat(32)}`;

/** What a call with these parameters becomes: the parameters' text, and what they are about. */
function place(
  method: string,
  params: unknown,
  at: AnnouncedHead | "none" = head,
): [string, About | undefined] {
  const rule = rules.get(method);
  if (rule === undefined) throw new Error(`${method} has no line`);
  const paramsText = typeof params === "string" ? params : JSON.stringify(params);
  const call: Call = { idText: "1", kind: "forward", rule, paramsText };
  const placed = atHead(call, { head: at === "none" ? undefined : at, permissions: ["rpc", "explorer"] });
  if (placed.kind === "refused") throw new Error(placed.refusal.message);
  return [placed.paramsText, placed.about];
}

t.test("every tag that means the latest block becomes its number, wherever the block stands", async (t) => {
  for (const tag of ["latest", "safe", "finalized", "LATEST", "Safe"]) {
    t.same(place("eth_getBalance", [address, tag]), [`["${address}","0x3e8"]`, 1000], tag);
    t.same(place("eth_getBlockByNumber", [tag, true]), ['["0x3e8",true]', 1000]);
    t.same(place("eth_getStorageAt", [address, "0x0", tag]), [`["${address}","0x0","0x3e8"]`, 1000]);
    t.same(place("eth_call", [{ to: address, x: ["]"] }, tag, { "0x1": {} }]), [
      `[{"to":"${address}","x":["]"]},"0x3e8",{"0x1":{}}]`,
      1000,
    ]);
    t.same(place("eth_estimateGas", [{}, tag]), ['[{},"0x3e8"]', 1000]);
    t.same(place("eth_feeHistory", [4, tag, [25.5]]), ['[4,"0x3e8",[25.5]]', 1000]);
    t.same(place("eth_getBlockReceipts", [tag]), ['["0x3e8"]', 1000]);
    t.same(place("debug_traceCall", [{}, tag, {}]), ['[{},"0x3e8",{}]', 1000]);
    t.same(place("trace_block", [tag]), ['["0x3e8"]', 1000]);
  }
  t.same(place("eth_getBalance", `["${address}","l\\u0061test"]`), [`["${address}","0x3e8"]`, 1000]);
  t.same(place("eth_getLogs", [{ address }])[1], 1000);
});

t.test(
  "a missing block means the latest where validators take it so, and null is a missing one",
  async (t) => {
    t.same(place("eth_getBalance", [address]), [`["${address}","0x3e8"]`, 1000]);
    t.same(place("eth_getBalance", [address, null]), [`["${address}","0x3e8"]`, 1000]);
    t.same(place("eth_call", [{}, null, {}]), ['[{},"0x3e8",{}]', 1000]);
    t.same(place("trace_block", []), ['["0x3e8"]', 1000]);
    t.same(place("eth_estimateGas", [{}]), ["[{}]", "open"], "which means pending");
    t.same(
      place("eth_getStorageAt", [address]),
      [`["${address}"]`, "open"],
      "more than the block is missing",
    );
    t.same(place("eth_getBlockByHash", []), ["[]", "open"]);
  },
);

t.test("numbers, hashes, earliest and pending stay", async (t) => {
  for (const [block, about] of [
    ["0x10", 16],
    ["0x0010", 16],
    ["earliest", 0],
    ["pending", "open"],
    [hash, "fixed"],
    [16, 16],
    [{ blockNumber: "0x10" }, 16],
    [{ blockHash: hash, requireCanonical: true }, "fixed"],
    [{ blockNumber: "latest" }, "open"],
    [{ blockNumber: "0x10", blockHash: hash }, "open"],
    ["16", "open"],
    ["0x", "open"],
    ["0xffffffffffffffff", "open"],
    ["newest", "open"],
    [{}, "open"],
    [[], "open"],
    [true, "open"],
    [-1, "open"],
  ] as const) {
    const params = [address, block];
    t.same(place("eth_getBalance", params), [JSON.stringify(params), about], JSON.stringify(block));
  }
  t.same(place("eth_getBlockByHash", [hash, false]), [`["${hash}",false]`, "fixed"]);
});

t.test("methods without a block hold for ever, until the next block, or not at all", async (t) => {
  t.equal(place("eth_chainId", [])[1], "fixed");
  t.equal(place("eth_getTransactionReceipt", [hash])[1], "fixed");
  t.equal(place("eth_gasPrice", [])[1], "head");
  t.equal(place("eth_sendRawTransaction", ["0x00"])[1], undefined);
});

t.test("without a head everything stays", async (t) => {
  t.same(place("eth_getBalance", [address, "latest"], "none"), [`["${address}","latest"]`, "open"]);
  t.same(place("eth_getBalance", [address], "none"), [`["${address}"]`, "open"]);
  t.same(place("eth_getBalance", [address, "0x1"], "none"), [`["${address}","0x1"]`, 1]);
});

t.test("whatever stands around it, only the block parameter changes (oracle: JSON.parse)", async (t) => {
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom("latest", "]", '["latest"]', "\\", '"', ",", { latest: ["latest"] }),
  );
  const blocks = fc.constantFrom("latest", "safe", "finalized", null, "0x5", "pending", hash, {
    blockHash: hash,
  });
  fc.assert(
    fc.property(
      fc.constantFrom("trace_block", "debug_traceCall", "trace_call"),
      fc.array(anything, { minLength: 2, maxLength: 2 }),
      blocks,
      fc.array(anything, { maxLength: 2 }),
      fc.constantFrom(undefined, 2, "\t"),
      (method, others, block, rest, space) => {
        const at = rules.get(method)?.block?.at;
        if (typeof at !== "number") throw new Error(`${method} has no block`);
        const params = [...others.slice(0, at), block, ...rest];
        const isLatest = block === null || ["latest", "safe", "finalized"].includes(String(block));
        const expected = params.map((param, index) => (index === at && isLatest ? "0x3e8" : param));
        const text = Buffer.from(JSON.stringify(params, null, space)).toString("latin1");
        const [placed] = place(method, text);
        t.strictSame(
          JSON.parse(Buffer.from(placed, "latin1").toString()),
          JSON.parse(JSON.stringify(expected)),
        );
      },
    ),
    { numRuns: 500 },
  );
});
