import { join } from "node:path";
import t from "tap";
import { readMethodTable } from "../../../../gateway/methods/method-table.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { wordsOfLibraries } from "../../support/problem.ts";
import { bob, startServices } from "../../support/start-world.ts";
import { startLyingNode } from "../support/lying-node.ts";
import { methodsThatPass } from "./support/methods-that-pass.ts";
import { startPayerRpc } from "./support/start-payer-rpc.ts";

/* What is no payment and no part of one: methods, parameters, bodies. Nothing of it is seen by the gateway. */

const { upstream, ...services } = await startServices(t);
const seen: string[] = [];
const gateway = await startLyingNode(t, {
  upstream,
  onCall: ({ method, params }) => void seen.push(JSON.stringify([method, params])),
});
const rig = await startPayerRpc(t, {
  given: { ...services, upstream: gateway.url },
  change: (config) => ({ ...config, payerRpc: { ...config.payerRpc, callsPerMinute: 100_000 } }),
});
const { call, post } = rig;
const marker = "0x5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed";
const wasSeen = () => seen.some((text) => text.includes(marker));

t.test("of all methods that the gateway forwards a wallet's pass, and no other reaches it", async (t) => {
  const { rules } = readMethodTable(join(import.meta.dirname, "../../../../config/methods.yaml"));
  const forbidden = ["admin_addPeer", "debug_setHead", "personal_unlockAccount", "eth_sendTransaction"];
  const strange = [
    "",
    "constructor",
    "__proto__",
    "eth_chainid",
    "eth_chainId ",
    "ETH_CHAINID",
    "rpc.discover",
  ];
  const passing: string[] = [];
  for (const method of [...rules.keys(), ...forbidden, ...strange]) {
    const { status, error, text } = await call(method, [marker, "latest"]);
    if (error?.code !== -32601) {
      passing.push(method);
      continue;
    }
    t.equal(status, 200, method);
    t.match(error, {
      message: /^This RPC is for paying: .* gateway with an API key$/,
      data: { code: "not_found" },
    });
    t.notMatch(text, wordsOfLibraries);
  }
  t.same(passing.toSorted(), methodsThatPass);
  const reads = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"];
  const others = seen.filter((text) => text.includes(marker) && !reads.some((name) => text.includes(name)));
  t.same(others, []);
});

t.test("parameters beyond a wallet's are refused, with where they stand", async (t) => {
  seen.length = 0;
  const to = marker;
  const hash = `${marker}${"0".repeat(24)}`;
  const wrong: [method: string, params: unknown[], where: RegExp][] = [
    ["eth_chainId", [marker], /parameters are taken, in this order: none$/],
    ["eth_getBalance", [marker, "earliest"], /\(params\/1\): latest, pending, safe, finalized or the number/],
    ["eth_getBalance", [marker, { blockNumber: "0x1" }], /params\/1/],
    ["eth_getBalance", [marker.slice(0, -1), "latest"], /params\/0/],
    ["eth_getBalance", [], /params\/0\): an address was expected|in this order: an address; latest/],
    ["eth_getBalance", [marker, "latest", "more"], /in this order: an address; latest/],
    ["eth_getBalance", [{ toString: marker }, "latest"], /params\/0/],
    ["eth_getBlockByNumber", ["earliest", false], /params\/0/],
    ["eth_getBlockByNumber", ["latest", marker], /params\/1/],
    ["eth_getBlockByHash", ["latest", false], /params\/0/],
    ["eth_feeHistory", ["0x65", "latest", []], /params\/0/],
    ["eth_feeHistory", [0, "latest", []], /params\/0/],
    ["eth_feeHistory", ["0x1", "latest", Array(21).fill(1)], /params\/2/],
    ["eth_feeHistory", ["0x1", "latest", [101]], /params\/2/],
    ["eth_getTransactionReceipt", [hash.slice(0, -1)], /params\/0/],
    ["eth_call", [{ to, data: `0x${"00".repeat(1025)}` }, "latest"], /params\/0\/data/],
    ["eth_call", [{ to, data: "0x01", input: "0x02" }, "latest"], /params\/0/],
    ["eth_call", [{ to }, "latest", { [marker]: { code: "0x00" } }], /in this order: a transaction/],
    ["eth_estimateGas", [{ to }, "latest", {}], /in this order/],
    ["eth_sendRawTransaction", [marker, {}], /in this order: a signed/],
    ["eth_sendRawTransaction", ["not hex"], /params\/0/],
  ];
  for (const [method, params, where] of wrong) {
    const { status, error } = await call(method, params);
    const what = JSON.stringify([method, params]).slice(0, 200);
    t.match(error, { code: -32602, message: where, data: { code: "invalid_request" } }, what);
    t.equal(status, 200, what);
  }
  t.notOk(wasSeen());
});

t.test("old blocks are for the gateway, new ones for wallets", async (t) => {
  await rig.anvil.rpc("anvil_mine", ["0x100"]);
  const height = Number(await rig.anvil.rpc("eth_blockNumber"));
  const at = (number: number) => call("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);
  // It hears of blocks by itself, and a little later than the chain tells of them.
  await waitFor("the newest block is known", async () => (await at(height - 200)).error !== undefined);
  t.match((await at(height - 100)).result, { number: `0x${(height - 100).toString(16)}` });
  t.match((await at(height - 200)).error, { code: -32602, message: /newest 128 blocks/ });
  t.match((await call("eth_getBalance", [bob, "0x1"])).error, { code: -32602 });
});

t.test("nothing is called or estimated but the FeeCollector's payments and boxes that wait", async (t) => {
  seen.length = 0;
  const about = (method: string, transaction: object) => call(method, [transaction, "latest"]);
  for (const method of ["eth_call", "eth_estimateGas"]) {
    for (const transaction of [
      { to: marker, data: "0x06fdde03" },
      { from: marker, to: bob, value: "0x1" },
      { from: marker, data: "0x6001600055" },
      { from: marker, to: null },
    ]) {
      const { error } = await about(method, transaction);
      t.match(error, { code: -32600, message: /This RPC is for paying/, data: { code: "request_refused" } });
    }
  }
  t.notOk(wasSeen());
  const { pay } = await rig.invoice();
  const totals = await about("eth_call", { to: pay.to, data: `0x13af4035${"00".repeat(32)}` });
  t.equal(totals.error?.code, 3, "what the contract does not know it refuses itself");
});

t.test(
  "gas of a call is ours to set, prices are left out, and nothing else of it is passed on",
  async (t) => {
    seen.length = 0;
    const { transfer } = await rig.invoice();
    const given = {
      ...{ from: bob, to: transfer.to, value: `0x${transfer.value.toString(16)}` },
      ...{
        gas: "0xffffffffff",
        gasPrice: "0xffffffffffffff",
        nonce: "0x7",
        accessList: [{ address: marker }],
      },
    };
    t.equal((await call("eth_estimateGas", [given, "latest"])).result, "0x5208");
    const asked = seen.find((text) => text.includes("eth_estimateGas"));
    const value = `0x${transfer.value.toString(16)}`;
    t.same(JSON.parse(asked ?? ""), [
      "eth_estimateGas",
      [{ from: bob.toLowerCase(), to: transfer.to.toLowerCase(), value, data: "0x", gas: "0x61a80" }],
    ]);
  },
);

t.test("what is no JSON-RPC is refused as an error object", async (t) => {
  const chainId = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
  const deep = `${"[".repeat(15_000)}${"]".repeat(15_000)}`;
  const bodies: [what: string, body: unknown, status: number, code: number][] = [
    ["no JSON", "{", 400, -32700],
    ["an empty batch", [], 400, -32600],
    ["a batch of 21", Array(21).fill(chainId), 400, -32600],
    ["a text", '"eth_chainId"', 400, -32600],
    ["null", "null", 400, -32600],
    ["no version", { id: null, method: "eth_chainId" }, 400, -32600],
    ["params by name", { ...chainId, params: { x: 1 } }, 200, -32600],
    ["a long name", { ...chainId, method: "x".repeat(101) }, 200, -32600],
    ["an id that is an object", { ...chainId, id: {} }, 400, -32600],
    ["an id that is long", { ...chainId, id: "x".repeat(201) }, 400, -32600],
    [
      "an id that no double holds",
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"eth_chainId"}',
      400,
      -32600,
    ],
    ["deep arrays", deep, 200, -32600],
    ["deep parameters", `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":${deep}}`, 200, -32602],
    ["too long", `"${"x".repeat(32_768)}"`, 413, -32600],
  ];
  for (const [what, body, status, code] of bodies) {
    const answer = await post(body);
    t.equal(answer.status, status, what);
    const told = answer.text.startsWith("[") ? JSON.parse(answer.text)[0].error : answer.error;
    t.match(told, { code, data: { code: String } }, what);
    t.match(answer.headers.get("content-type"), /^application\/json/, what);
    t.notMatch(answer.text, wordsOfLibraries, what);
  }
  const form = await post("a=1", { headers: { "Content-Type": "application/x-www-form-urlencoded" } });
  t.match([form.status, form.error?.code], [415, -32600]);
  const packed = await post(chainId, { headers: { "Content-Encoding": "gzip" } });
  t.match([packed.status, packed.error?.code], [415, -32600]);
  t.equal((await rig.api.get("/rpc")).status, 405);
});

t.test(
  "batches and ids are answered as the specification has it; a notification is not carried out",
  async (t) => {
    const batch = [
      { jsonrpc: "2.0", id: "a", method: "eth_chainId" },
      { jsonrpc: "2.0", method: "eth_chainId" },
      1,
      { jsonrpc: "2.0", id: null, method: "net_version", params: [] },
      { jsonrpc: "2.0", id: -7, method: "eth_nothing" },
    ];
    const answers = JSON.parse((await post(batch)).text);
    t.match(answers, [
      { jsonrpc: "2.0", id: "a", result: "0x228d" },
      { jsonrpc: "2.0", id: null, error: { code: -32600 } },
      { jsonrpc: "2.0", id: null, result: "8845" },
      { jsonrpc: "2.0", id: -7, error: { code: -32601 } },
    ]);
    t.equal(answers.length, 4);
    seen.length = 0;
    const silent = await post({ jsonrpc: "2.0", method: "eth_getBalance", params: [marker, "latest"] });
    t.match([silent.status, silent.text], [204, ""]);
    t.equal((await post([{ jsonrpc: "2.0", method: "eth_chainId" }])).status, 204);
    t.notOk(wasSeen());
  },
);
