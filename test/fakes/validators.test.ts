import { readFile } from "node:fs/promises";
import { decodeRlp } from "ethers/utils";
import t from "tap";
import { type JsonObject, objects, strings, text } from "./validators/json.ts";
import { ask, askObject, developmentWallet, openSocket, post, readObject } from "./validators/rpc.ts";
import { startValidators } from "./validators/start-validators.ts";

const framing = await vector("besu-framing.json");
const members = await vector("besu-members.json");

const cluster = await startValidators(t);
const { url, wsUrl = "" } = cluster.validator(0);
const alice = developmentWallet(0);
await cluster.mine(3);

t.test("every recorded framing of an HTTP body is answered as Besu answered it", async (t) => {
  const cases = objects(framing["http"]);
  t.ok(cases.length > 40);
  for (const { title, method, path, request, status, answer } of cases) {
    const body = method === "POST" ? { body: String(request) } : {};
    const response = await fetch(`${url}${String(path)}`, { method: String(method), ...body });
    t.equal(response.status, status, String(title));
    t.equal(await response.text(), answer, String(title));
  }
});

t.test("every recorded framing of a WebSocket message is answered as Besu answered it", async (t) => {
  const socket = await openSocket(wsUrl);
  const cases = objects(framing["webSocket"]);
  t.ok(cases.length > 10);
  for (const { request, answer } of cases) {
    socket.send(String(request));
    t.equal(await socket.next(), answer, String(request));
  }
  t.equal(await socket.close(), 1005);
});

t.test("an array of 1 024 is answered, one more is refused by one error object", async (t) => {
  const array = (length: number) =>
    JSON.stringify(
      Array.from({ length }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_chainId", params: [] })),
    );
  const most: unknown = JSON.parse((await post(url, array(1_024))).text);
  t.equal(Array.isArray(most) && most.length, 1_024);
  const refused = await post(url, array(1_025));
  t.equal(refused.status, 200);
  const message = "Number of requests exceeds max batch size";
  t.equal(refused.text, `{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"${message}"}}`);
});

t.test("answers come in chunks, as JSON, compressed where asked; a foreign page is refused", async (t) => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  const plain = await post(url, body, { "accept-encoding": "identity" });
  t.equal(plain.headers["transfer-encoding"], "chunked");
  t.equal(plain.headers["content-type"], "application/json");
  t.equal(plain.headers["vary"], "origin");
  const compressed = await fetch(url, { method: "POST", body, headers: { "accept-encoding": "gzip" } });
  t.equal(compressed.headers.get("content-encoding"), "gzip");
  t.equal(await compressed.text(), plain.text);
  const foreign = await post(url, body, { origin: "https://example.org" });
  t.same([foreign.status, foreign.text], [403, "Exception thrown handling RPC"]);
});

t.test("block numbers and tags mean what they mean to Besu", async (t) => {
  const block = async (param: unknown) => await ask(url, "eth_getBlockByNumber", [param, false]);
  const unknownBlock = { error: { code: -39001, message: "Unknown block" } };
  t.strictSame(await block("finalized"), unknownBlock);
  t.strictSame(await block("safe"), unknownBlock);
  const invalid = { error: { code: -32602, message: "Invalid block number params" } };
  t.strictSame(await block("1"), invalid);
  t.strictSame(await block("foo"), invalid);
  t.strictSame(await block("0x7fffffff"), { result: null });
  t.match(await block("earliest"), { result: { number: "0x0" } });
  t.match(await block("0x01"), { result: { number: "0x1" } });
  t.match(await block(1), { result: { number: "0x1" } });
  t.strictSame(await block("pending"), await block("latest"));
  t.match(await block("latest"), { result: { number: "0x3" } });
});

t.test("a balance at an unknown block is an error, a call there is null", async (t) => {
  const params = [alice.address, "0x7fffffff"];
  t.strictSame(await ask(url, "eth_getBalance", params), {
    error: { code: -32602, message: "Invalid block param (block not found)" },
  });
  t.strictSame(await ask(url, "eth_call", [{ to: alice.address }, "0x7fffffff"]), { result: null });
  t.strictSame(await ask(url, "eth_getBalance", []), {
    error: { code: -32602, message: "Invalid address params" },
  });

  const { hash: blockHash } = await askObject(url, "eth_getBlockByNumber", ["latest", false]);
  for (const at of ["latest", "pending", "0x0", { blockHash }, { blockNumber: "0x1" }]) {
    t.strictSame(await ask(url, "eth_getBalance", [alice.address, at]), { result: "0xd3c21bcecceda1000000" });
  }
});

t.test("methods that Besu lacks, has switched off or does not support are told apart", async (t) => {
  const code = async (method: string) => await ask(url, method);
  t.match(await code("eth_mining"), { error: { code: -32601, message: "Method not found" } });
  t.match(await code("toString"), { error: { code: -32601 } });
  t.match(await code("admin_peers"), { error: { code: -32604, message: "Method not enabled" } });
  t.match(await code("qbft_getValidatorsByBlockNumber"), { error: { code: -32604 } });
  t.match(await code("eth_coinbase"), { error: { code: -32604 } });
  t.match(await code("eth_sendTransaction"), { error: { code: -32604, message: /not supported/ } });
  t.match(await code("ibft_getValidatorsByBlockNumber"), {
    result: ["0x33a0e6b163958264c23c5a87e1c88b9193a80fea"],
  });
  t.match(await code("net_peerCount"), { result: "0x4" });
  t.match(await code("eth_accounts"), { result: [] });
});

t.test(
  "a block has Besu's members in Besu's order, and on each validator its own commit seals",
  async (t) => {
    const onEach = await Promise.all(
      cluster.urls.map(async (each) => (await ask(each, "eth_getBlockByNumber", ["0x2", false]))["result"]),
    );
    const blocks = objects(onEach);
    t.equal(blocks.length, 5);
    t.equal(new Set(blocks.map((block) => block["hash"])).size, 1);
    t.equal(new Set(blocks.map((block) => block["extraData"])).size, 5);
    for (const block of blocks) {
      const fields = decodeRlp(text(block, "extraData"));
      const [, validators, , round, seals] = Array.isArray(fields) ? fields : [];
      t.equal(Array.isArray(validators) && validators.length, 5);
      t.equal(round, "0x00000000");
      t.ok(Array.isArray(seals) && seals.length >= 4 && seals.every((seal) => seal.length === 2 + 2 * 65));
    }
    t.strictSame(Object.keys(blocks[0] ?? {}), strings(members["block"]));
  },
);

t.test("reverts carry their reason in Besu's words", async (t) => {
  const call = async (data: string, gas = "0x186a0") =>
    await ask(url, "eth_call", [{ from: alice.address, data, gas }]);
  t.strictSame(await call("0x60006000fd"), { error: { code: 3, message: "Execution reverted", data: "0x" } });
  // Error("nope"), as recorded: CODECOPY what follows these 13 bytes, then REVERT.
  const reason = `08c379a0${"20".padStart(64, "0")}${"4".padStart(64, "0")}${"6e6f7065".padEnd(64, "0")}`;
  t.strictSame(await call(`0x6064600c60003960646000fd${reason}`), {
    error: { code: 3, message: "Execution reverted (nope)", data: `0x${reason}` },
  });
  t.match(await call("0x5b600056"), { error: { code: -32000, message: /\(Out of gas\)$/ } });
  t.match(await ask(url, "debug_traceTransaction", [`0x${"1".repeat(64)}`]), {
    error: { code: -32000, message: "Transaction not found" },
  });
});

async function vector(name: string): Promise<JsonObject> {
  return readObject(await readFile(new URL(`../vectors/${name}`, import.meta.url), "utf8"));
}
