import t from "tap";
import { load, loadReport, writeMix } from "./load-rig.ts";
import { result, type StubCall, startStubGateway } from "./stub-gateway.ts";

const account = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const blocks = [0, 1, 2, 3].map((number) => ({
  number: `0x${number}`,
  hash: `0x${String(number).repeat(64)}`,
  transactions: number === 2 ? [`0x${"e".repeat(64)}`] : [],
}));

/** A chain of three blocks, of which the second has a transaction. */
function answerFromChain({ method, params }: StubCall): unknown {
  if (method === "eth_blockNumber") return "0x3";
  if (method === "eth_getBlockByNumber") {
    return blocks.find(({ number }) => number === params[0]) ?? (params[0] === "latest" ? blocks[3] : null);
  }
  return "0x1";
}

async function startChain(t: Parameters<typeof startStubGateway>[0], answer = answerFromChain) {
  return startStubGateway(t, (calls, { isBatch }) => {
    const answers = calls.map((call) => result(call, answer(call)));
    return isBatch ? `[${answers.join(",")}]` : answers[0];
  });
}

/** The calls of a method that a stub was asked, in their order. */
function asked(bodies: readonly string[], method: string): StubCall[] {
  return bodies
    .flatMap((body): StubCall[] => [JSON.parse(body)].flat())
    .filter((call) => call.method === method);
}

t.test("placeholders stand for accounts, blocks, hashes and words", async (t) => {
  const stub = await startChain(t);
  const mix = writeMix(
    t,
    `
accounts: { list: ["${account}"] }
items:
  - call: eth_call
    params: [{ to: $account, data: "0x70a08231$account:word", note: $$5 }, $block]
    expect: quantity
  - { call: eth_getBlockByHash, params: [$blockHash, false], expect: quantity }
  - { call: eth_getTransactionReceipt, params: [$transactionHash], expect: quantity }
`,
  );
  const { report } = await loadReport([
    ...["--url", stub.url, "--mix", mix, "--rate", "300", "--duration", "500ms", "--seed", "1"],
  ]);
  t.strictSame(report.errors, []);
  t.strictSame(report.notes, []);
  const calls = asked(stub.bodies, "eth_call");
  t.match(calls[0]?.params[0], {
    to: account,
    data: `0x70a08231${account.slice(2).padStart(64, "0")}`,
    note: "$5",
  });
  const seen = new Set(calls.map(({ params }) => params[1]));
  t.strictSame([...seen].sort(), ["0x0", "0x1", "0x2", "0x3"], "any of the recent blocks");
  t.ok(
    asked(stub.bodies, "eth_getBlockByHash").every(({ params }) =>
      blocks.some(({ hash }) => hash === params[0]),
    ),
  );
  const receipts = asked(stub.bodies, "eth_getTransactionReceipt").map(({ params }) => params[0]);
  t.strictSame([...new Set(receipts)], blocks[2]?.transactions);
});

t.test("within a call a placeholder is one value, so that a range never runs backwards", async (t) => {
  const stub = await startChain(t);
  const range = "{ fromBlock: $block, toBlock: $block }";
  const mix = writeMix(
    t,
    `items: [{ call: eth_getLogs, params: [${range}] }, { name: two, batch: [{ call: eth_getLogs, params: [${range}] }] }]\n`,
  );
  await loadReport([
    ...["--url", stub.url, "--mix", mix, "--rate", "300", "--duration", "500ms", "--seed", "1"],
  ]);
  const ranges = asked(stub.bodies, "eth_getLogs").map(({ params }) => params[0]);
  t.ok(ranges.length > 20, `${ranges.length} ranges`);
  const drawn = new Set(ranges.map((asked) => JSON.stringify(asked)));
  const whole = blocks.map(({ number }) => JSON.stringify({ fromBlock: number, toBlock: number }));
  t.strictSame([...drawn].sort(), whole, "each is one of the recent blocks");
});

t.test("the same seed makes the same choices, another one others", async (t) => {
  const stub = await startChain(t);
  const mix = writeMix(
    t,
    "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity }]\n",
  );
  const accountsOf = async (seed: string) => {
    stub.bodies.length = 0;
    await loadReport([
      "--url",
      stub.url,
      "--mix",
      mix,
      "--rate",
      "100",
      "--duration",
      "200ms",
      "--seed",
      seed,
    ]);
    // Calls under way at the same time come in any order.
    return asked(stub.bodies, "eth_getBalance")
      .map(({ params }) => params[0])
      .toSorted();
  };
  const first = await accountsOf("7");
  t.equal(first.length, 20);
  t.equal(new Set(first).size, 20, "unlike each other");
  t.strictSame(await accountsOf("7"), first);
  t.notSame(await accountsOf("8"), first);
});

t.test("items come as often as their weights say", async (t) => {
  const stub = await startChain(t);
  const mix = writeMix(
    t,
    "items:\n  - { weight: 3, call: eth_gasPrice }\n  - { weight: 1, call: eth_syncing, name: rare }\n",
  );
  await loadReport(["--url", stub.url, "--mix", mix, "--rate", "1000", "--duration", "800ms", "--seed", "2"]);
  const common = asked(stub.bodies, "eth_gasPrice").length;
  t.equal(common + asked(stub.bodies, "eth_syncing").length, 800);
  // 600 expected with a standard deviation of 12.
  t.ok(common > 540 && common < 660, `${common} of 800`);
});

t.test("in a sequence a later call uses what an earlier one answered", async (t) => {
  const stub = await startChain(t);
  const mix = writeMix(
    t,
    `
items:
  - name: look into the second block
    sequence:
      - { call: eth_getBlockByNumber, params: ["0x2", false], expect: object, save: seen }
      - { call: eth_getTransactionReceipt, params: [$seen.transactions.0], expect: quantity }
`,
  );
  const { report } = await loadReport([
    "--url",
    stub.url,
    "--mix",
    mix,
    "--rate",
    "50",
    "--duration",
    "200ms",
  ]);
  t.strictSame(report.errors, []);
  t.strictSame(
    asked(stub.bodies, "eth_getTransactionReceipt").map(({ params }) => params[0]),
    Array.from({ length: 10 }, () => blocks[2]?.transactions[0]),
  );
  t.equal(report.calls.total, 20);
});

t.test("a sequence whose result has nothing for its next step ends there, and that is told", async (t) => {
  const stub = await startChain(t);
  const mix = writeMix(
    t,
    `
items:
  - name: an empty block
    sequence:
      - { call: eth_getBlockByNumber, params: ["0x1", false], expect: object, save: seen }
      - { call: eth_getTransactionReceipt, params: [$seen.transactions.0], expect: object }
`,
  );
  const { report } = await loadReport([
    "--url",
    stub.url,
    "--mix",
    mix,
    "--rate",
    "50",
    "--duration",
    "200ms",
  ]);
  t.equal(report.calls.total, 10);
  t.match(report.notes, [/"an empty block" ended 10 times at step 2/]);
});

t.test(
  "an item that this chain has nothing for is left out and named; with no other there is no load",
  async (t) => {
    const stub = await startChain(t, (call) =>
      call.method === "eth_getBlockByNumber"
        ? { ...blocks[1], number: call.params[0] }
        : answerFromChain(call),
    );
    const needy = "- { call: eth_getTransactionReceipt, params: [$transactionHash] }";
    const both = writeMix(t, `items:\n  ${needy}\n  - { call: eth_gasPrice }\n`);
    const { report } = await loadReport([
      "--url",
      stub.url,
      "--mix",
      both,
      "--rate",
      "50",
      "--duration",
      "200ms",
    ]);
    t.strictSame(
      report.methods.map(({ label }) => label),
      ["eth_gasPrice"],
    );
    t.match(report.notes, [/"eth_getTransactionReceipt" was left out: there is no \$transactionHash/]);

    const alone = writeMix(t, `items:\n  ${needy}\n`);
    const outcome = await load(["--url", stub.url, "--mix", alone, "--rate", "50"]);
    t.equal(outcome.code, 2);
    t.match(outcome.err, /No item of .* can run: each needs \$transactionHash/);
  },
);

t.test("a mix that cannot be used is refused with file, line and what was expected", async (t) => {
  const cases: [string, RegExp][] = [
    ["items: []\n", /mix\.yaml:1: items: /],
    ["items:\n  - { cal: eth_gasPrice }\n", /mix\.yaml:2: items\[0\]\.cal: this key is unknown/],
    [
      "items:\n  - { weight: 2 }\n",
      /:2: items\[0\]: exactly one of call, batch, sequence, send was expected/,
    ],
    ["items:\n  - { call: eth_gasPrice, send: {} }\n", /exactly one of .* was expected, not call and send/],
    ["items:\n  - { call: gasPrice }\n", /:2: items\[0\]\.call: a JSON-RPC method such as eth_getBalance/],
    [
      "items:\n  - { call: eth_gasPrice, expect: quantiti }\n",
      /:2: items\[0\]\.expect: .*Did you mean quantity\?/,
    ],
    [
      "items:\n  - call: eth_getBalance\n    params:\n      - $acount\n",
      /:4: items\[0\]\.params\[0\]: \$acount is not known here\. Did you mean \$account\?/,
    ],
    ["items:\n  - { call: eth_call, params: [$account.x] }\n", /\$account has nothing inside it/],
    ["items:\n  - { name: s, send: {} }\n", /:2: items\[0\]\.send: a send needs `senders`/],
    [
      "items:\n  - { batch: [{ call: eth_gasPrice }] }\n",
      /items\[0\]\.name: a batch or sequence needs a name/,
    ],
    [
      "items:\n  - name: s\n    sequence:\n      - { call: eth_call, params: [$later] }\n      - { call: eth_gasPrice, save: later }\n",
      /:4: items\[0\]\.sequence\[0\]\.params\[0\]: \$later is not known here/,
    ],
    [
      "senders: { seed: a, mnemonic: b }\nitems:\n  - { call: eth_gasPrice }\n",
      /:1: senders: only one of seed/,
    ],
    ["items: [\n", /mix\.yaml:\d+: /],
  ];
  for (const [text, message] of cases) {
    const { code, err } = await load(["--mix", writeMix(t, text), "--rate", "1"]);
    t.equal(code, 2);
    t.match(err, message);
  }
});
