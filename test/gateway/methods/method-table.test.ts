import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readMethodTable } from "../../../gateway/methods/method-table.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const shipped = new URL("../../../config/methods.yaml", import.meta.url).pathname;
const besuMethods = readFileSync(new URL("../../vectors/besu-26.8.0-methods.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "");

t.test(
  "every method that Besu knows is decided, and no line is about one that Besu does not know",
  async (t) => {
    const table = readMethodTable(shipped);
    t.ok(besuMethods.length > 150, "the list of Besu's methods is whole");
    t.same(
      besuMethods.filter((method) => table.lookup(method) === "unknown"),
      [],
      "a new method of Besu needs a line in config/methods.yaml",
    );
    t.same(
      [...table.rules.keys()].filter((method) => !besuMethods.includes(method)),
      [],
    );
  },
);

t.test(
  "no call has more time than Besu gives a request (http-timeout, 30 s), counted from when it was sent",
  async (t) => {
    const late = [...readMethodTable(shipped).rules.values()].filter(({ timeoutMs }) => timeoutMs >= 30_000);
    t.same(late, []);
  },
);

t.test(
  "what changes a node, the consensus or its files is refused, under names known today or not",
  async (t) => {
    const table = readMethodTable(shipped);
    for (const method of [
      ...[
        "admin_addPeer",
        "admin_anything",
        "miner_start",
        "perm_addNodesToAllowlist",
        "plugins_reloadPluginConfig",
      ],
      ...["engine_newPayloadV9", "personal_unlockAccount", "debug_setHead", "ibft_proposeValidatorVote"],
      ...[
        "ibft_discardValidatorVote",
        "qbft_proposeValidatorVote",
        "qbft_discardValidatorVote",
        "testing_buildBlockV1",
      ],
      ...["debug_resyncWorldState", "debug_standardTraceBlockToFile", "debug_replayBlock"],
      ...["debug_batchSendRawTransaction", "eth_sendTransaction"],
    ]) {
      t.equal(table.lookup(method), "refused", method);
    }
  },
);

t.test("names that every object has are unknown methods", async (t) => {
  const table = readMethodTable(shipped);
  for (const method of [
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    "eth_chainid",
    "eth_chainId ",
  ]) {
    t.equal(table.lookup(method), "unknown", JSON.stringify(method));
  }
});

t.test("costly reads need the permission explorer, the public set needs rpc", async (t) => {
  for (const [name, rule] of readMethodTable(shipped).rules) {
    const costly = /^(trace|debug|txpool)_/.test(name);
    t.equal(rule.permission, costly ? "explorer" : "rpc", name);
  }
});

t.test("only the call that changes the chain is never asked again", async (t) => {
  const once = [...readMethodTable(shipped).rules.values()].filter((rule) => !rule.mayAskAgain);
  t.same(
    once.map(({ name }) => name),
    ["eth_sendRawTransaction"],
  );
});

t.test("a wrong table is refused with file, line and key", async (t) => {
  const file = join(testFolder(t), "methods.yaml");
  const lanes = "lanes: { light: { timeoutMs: 1 }, call: { timeoutMs: 1 }, slow: { timeoutMs: 1 } }\n";
  for (const [line, expected] of [
    [
      "  eth_call: { permission: admin, cost: 1, cache: never, lane: call }",
      /:3: methods\.eth_call\.permission/,
    ],
    ["  eth_call: { permission: rpc, cost: 0, cache: never, lane: call }", /:3: methods\.eth_call\.cost/],
    ["  eth_call: { permission: rpc, cost: 1, cache: never, lane: call, block: 1 }", /belong together/],
    [
      "  eth_call: { permission: rpc, cost: 1, cache: never, lane: call, spam: 1 }",
      /methods\.eth_call\.spam: .*unknown/,
    ],
    [
      "  admin_peers: { permission: rpc, cost: 1, cache: never, lane: call }",
      /:4: refused\[0\]: admin_peers/,
    ],
  ] as const) {
    writeFileSync(file, `${lanes}methods:\n${line}\nrefused: [admin_*]\n`);
    t.throws(() => readMethodTable(file), { message: expected }, line);
  }
});
