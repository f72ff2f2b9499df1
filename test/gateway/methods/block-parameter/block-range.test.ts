import t from "tap";
import { checkBlockRange } from "../../../../gateway/methods/block-parameter/block-range.ts";
import { readMethodTable } from "../../../../gateway/methods/method-table.ts";

const rule = readMethodTable(new URL("../../../../config/methods.yaml", import.meta.url).pathname).rules.get(
  "eth_getLogs",
);
const head = 100_000n;

function check(
  params: unknown,
  permissions: ("rpc" | "explorer")[] = ["rpc"],
  paramsText = JSON.stringify(params),
) {
  if (rule === undefined) throw new Error("eth_getLogs has a line");
  return checkBlockRange({
    rule,
    permissions,
    paramsText: Buffer.from(paramsText).toString("latin1"),
    headNumber: () => head,
  });
}

const hex = (number: bigint | number) => `0x${number.toString(16)}`;

t.test(
  "a range within the bound passes, one block more does not, and the error names the bound",
  async (t) => {
    for (const [permissions, blocksMax] of [
      [["rpc"], 1000],
      [["rpc", "explorer"], 5000],
    ] as const) {
      const range = (blocks: number) => [{ fromBlock: "0x10", toBlock: hex(0x10 + blocks - 1) }];
      t.match(await check(range(blocksMax), [...permissions]), { paramsText: /0x10/ });
      t.match(await check(range(blocksMax + 1), [...permissions]), {
        refused: "invalid_params",
        message: new RegExp(`spans ${blocksMax + 1} blocks; this API key may span ${blocksMax} at once`),
        data: { blocksMax },
      });
    }
  },
);

t.test("tags and missing ends are counted against the head", async (t) => {
  for (const end of [
    {},
    { toBlock: "latest" },
    { toBlock: "pending" },
    { toBlock: null },
    { toBlock: "safe" },
  ]) {
    t.match(await check([{ fromBlock: hex(head - 999n), ...end }]), { paramsText: String });
    t.match(await check([{ fromBlock: hex(head - 1000n), ...end }]), { refused: "invalid_params" });
    t.match(await check([{ fromBlock: "earliest", ...end }]), { refused: "invalid_params" });
  }
  t.match(await check([{}]), { about: Number(head) }, "the latest block alone");
  t.match(await check([{ fromBlock: "earliest", toBlock: "0x1" }]), { paramsText: String });
  t.match(
    await check([{ fromBlock: "latest", toBlock: "0x1" }]),
    { paramsText: String },
    "an empty range is Besu's to refuse",
  );
});

t.test("an end that means the latest block becomes its number, pending and earliest stay", async (t) => {
  const ends = async (filter: object) => {
    const checked = await check([filter], ["rpc", "explorer"]);
    if (!("paramsText" in checked)) return checked.message;
    const [{ fromBlock, toBlock }] = JSON.parse(checked.paramsText);
    return [fromBlock, toBlock, checked.about];
  };
  const latest = hex(head);
  t.same(await ends({}), [latest, latest, Number(head)]);
  t.same(await ends({ fromBlock: "latest", toBlock: null }), [latest, latest, Number(head)]);
  t.same(await ends({ fromBlock: "safe", toBlock: "finalized" }), [latest, latest, Number(head)]);
  t.same(await ends({ fromBlock: hex(head - 5n) }), [hex(head - 5n), latest, Number(head)]);
  t.same(await ends({ fromBlock: "earliest", toBlock: "0x5" }), ["earliest", "0x5", 5]);
  t.same(await ends({ toBlock: "pending" }), [latest, "pending", "open"]);
  t.same(await ends({ fromBlock: "pending", toBlock: latest }), ["pending", latest, "open"]);
  t.same(await ends({ blockHash: `0x${"11".repeat(32)}` }), [undefined, undefined, "fixed"]);
});

t.test(
  "without a head a filter up to it passes as it is where it is one block, and else is refused",
  async (t) => {
    if (rule === undefined) return;
    const headless = (filter: object) =>
      checkBlockRange({
        rule,
        permissions: ["rpc"],
        paramsText: JSON.stringify([filter]),
        headNumber: () => undefined,
      });
    t.same(headless({ fromBlock: "latest" }), { paramsText: '[{"fromBlock":"latest"}]', about: "open" });
    t.match(headless({ fromBlock: "0x1" }), { refused: "upstream_unavailable" });
    t.match(headless({ fromBlock: "0x1", toBlock: "0x2" }), { about: 2 });
  },
);

t.test("one block by its hash passes, and not together with a range (EIP-234)", async (t) => {
  const blockHash = `0x${"11".repeat(32)}`;
  t.match(await check([{ blockHash }]), { paramsText: new RegExp(blockHash) });
  t.match(await check([{ blockHash, fromBlock: "0x1" }]), { refused: "invalid_params" });
});

t.test("anything that cannot be counted is refused", async (t) => {
  const wrong = [[], [null], ["0x1"], [[]], [{ fromBlock: 1 }], [{ fromBlock: "1" }], [{ toBlock: "0x" }]];
  for (const params of [
    ...wrong,
    [{ fromBlock: "head" }],
    [{ fromBlock: `0x${"f".repeat(17)}` }],
    [{ toBlock: {} }],
  ]) {
    t.match(await check(params), { refused: "invalid_params" }, JSON.stringify(params));
  }
});

t.test("a member sent twice is forwarded once, as it was counted", async (t) => {
  const twice = '[{"fromBlock":"0x0","toBlock":"0x1","fromBlock":"0x1","topics":["\u00e9"]}]';
  const checked = await check(undefined, ["rpc"], twice);
  t.ok("paramsText" in checked);
  if (!("paramsText" in checked)) return;
  t.same(JSON.parse(Buffer.from(checked.paramsText, "latin1").toString()), [
    { fromBlock: "0x1", toBlock: "0x1", topics: ["\u00e9"] },
  ]);
  t.equal(checked.paramsText.split("fromBlock").length, 2);
});

t.test("a filter over many blocks travels in the slow lane, and has its time", async (t) => {
  const range = (blocks: number) => [{ fromBlock: "0x10", toBlock: hex(0x10 + blocks - 1) }];
  const narrow = await check(range(100));
  t.ok("paramsText" in narrow && narrow.rule === undefined);
  for (const [blocks, permissions] of [
    [101, ["rpc"]],
    [5000, ["rpc", "explorer"]],
  ] as const) {
    t.match(await check(range(blocks), [...permissions]), {
      rule: { name: "eth_getLogs", lane: "slow", timeoutMs: 28_000, permission: "rpc", cost: 1 },
    });
  }
  t.match(await check([{ fromBlock: hex(head - 100n) }]), { rule: { lane: "slow" } }, "counted to the head");
});

t.test("a filter may name a thousand addresses and topics, wherever they stand", async (t) => {
  const values = (count: number) => Array(count).fill(`0x${"11".repeat(20)}`);
  const refused = {
    refused: "invalid_params",
    message: "A filter may name at most 1000 addresses and topics together",
    data: { logValuesMax: 1000 },
  };
  for (const place of [
    (count: number) => ({ address: values(count) }),
    (count: number) => ({ topics: [null, values(count)] }),
    (count: number) => ({ address: values(count - 600), topics: [values(300), values(300)] }),
    (count: number) => ({ fromAddress: values(count - 500), toAddress: values(500) }),
  ]) {
    t.match(check([{ fromBlock: "0x1", toBlock: "0x1", ...place(1000) }]), { paramsText: /0x1/ });
    t.match(check([{ fromBlock: "0x1", toBlock: "0x1", ...place(1001) }]), refused);
    t.match(check([{ blockHash: `0x${"22".repeat(32)}`, ...place(1001) }]), refused);
  }
});
