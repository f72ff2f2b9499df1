import { connect } from "node:net";
import t, { type Test } from "tap";
import { developmentWallet, signed } from "../../fakes/validators/rpc.ts";
import { startValidators } from "../../fakes/validators/start-validators.ts";
import { type GatewayUnderTest, qaKey, startGateway } from "../../helpers/gateway.ts";
import { rawPost } from "../../helpers/raw-http.ts";
import { startRedis } from "../../helpers/redis.ts";
import { startStopwatch } from "../../helpers/stopwatch.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const { address } = developmentWallet(1);

/** Blocks are made by the test alone; the shipped configuration, cache and arrays included. */
async function startRig(t: Test) {
  const [redis, cluster] = await Promise.all([startRedis(t), startValidators(t)]);
  await cluster.mine(3);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: cluster.urls,
    change: (config) => ({
      ...config,
      memory: { bytesMax: 1_000_000, entryBytesMax: 10_000 },
      // A late call that is asked of a second validator would be counted there too.
      forward: { ...config.forward, hedge: { ...config.forward.hedge, shareMax: 0, burst: 0 } },
    }),
  });
  const calls = (method: string) =>
    cluster.validators.reduce((sum, validator) => sum + validator.callsOf(method), 0);
  return { cluster, gateway, calls };
}

/** The result of one call by the QA key, and what its headers tell. */
async function ask(
  gateway: GatewayUnderTest,
  method: string,
  params: unknown[],
  headers: Record<string, string> = {},
) {
  const posted = await gateway.post({ jsonrpc: "2.0", id: 1, method, params }, { key: qaKey, headers });
  const { json } = posted;
  const result: unknown = typeof json === "object" && json !== null && "result" in json ? json.result : json;
  return { result, source: posted.headers.get("x-tollgate-cache"), headers: posted.headers };
}

async function minedTo(gateway: GatewayUnderTest, number: number): Promise<void> {
  await ask(gateway, "eth_getBlockByNumber", [hex(number), false]);
  while ((await ask(gateway, "eth_blockNumber", [])).result !== hex(number)) await new Promise(setImmediate);
}

const hex = (number: number) => `0x${number.toString(16)}`;

t.test("a call reaches the validators once within a block, and again with the next", async (t) => {
  const { cluster, gateway, calls } = await startRig(t);
  const first = await ask(gateway, "eth_getBalance", [address, "latest"]);
  t.equal(first.source, "miss");
  const second = await ask(gateway, "eth_getBalance", [address]);
  t.match(second, { source: "hit", result: first.result });
  t.equal(calls("eth_getBalance"), 1);
  await cluster.mine(1);
  await minedTo(gateway, 4);
  t.equal((await ask(gateway, "eth_getBalance", [address, "latest"])).source, "miss");
  t.equal(calls("eth_getBalance"), 2);
  const metrics = (await (await fetch(`${gateway.opsUrl}/metrics`)).text()).split("\n");
  for (const line of [
    // The balance twice, and the block that was waited for.
    'tollgate_gateway_memory_calls_total{class="head",source="miss"} 3',
    'tollgate_gateway_memory_entries{class="head"} 2',
    'tollgate_gateway_calls_total{method="eth_getBalance"} 3',
  ]) {
    t.ok(metrics.includes(line), line);
  }
  t.ok(metrics.some((line) => /^tollgate_gateway_memory_saved_calls_total [1-9]/.test(line)));
});

t.test("a hundred clients with the same call are one request to a validator, whoever leaves", async (t) => {
  const { cluster, gateway, calls } = await startRig(t);
  for (const validator of cluster.validators) validator.latency("eth_call", 300);
  const question = { jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to: address }, "latest"] };
  // The first to ask goes away before there is an answer.
  const leader = connect(gateway.port, "127.0.0.1");
  leader.write(rawPost({ key: qaKey, body: JSON.stringify(question) }));
  while (calls("eth_call") === 0) await new Promise(setImmediate);
  const others = Array.from({ length: 100 }, () => gateway.post(question, { key: qaKey }));
  leader.destroy();
  const answers = await Promise.all(others);
  t.same([...new Set(answers.map(({ text }) => text))], ['{"jsonrpc":"2.0","id":1,"result":"0x"}']);
  const told = new Set(answers.map(({ headers }) => headers.get("x-tollgate-cache")));
  t.ok(told.has("join"), "they wait for the one request");
  // On a busy machine some come only when its answer is there.
  t.ok(
    [...told].every((word) => word === "join" || word === "hit"),
    [...told].join(),
  );
  t.equal(calls("eth_call"), 1);
});

t.test("headers tell where each answer comes from, to keys for QA only", async (t) => {
  const { gateway } = await startRig(t);
  await ask(gateway, "eth_chainId", []);
  const batch = [
    { jsonrpc: "2.0", id: 1, method: "eth_chainId" },
    { jsonrpc: "2.0", id: 2, method: "eth_nonsense" },
    { jsonrpc: "2.0", id: 3, method: "eth_getBalance", params: [address, "latest"] },
    { jsonrpc: "2.0", id: 4, method: "eth_getBalance", params: [address, "safe"] },
    { jsonrpc: "2.0", id: 5, method: "eth_blockNumber" },
  ];
  const { headers } = await gateway.post(batch, { key: qaKey });
  t.equal(headers.get("x-tollgate-cache"), "hit, none, miss, join, hit");
  t.match(headers.get("x-tollgate-validator"), /^validator-[1-5], none, (validator-[1-5]), \1, none$/);
  t.match(headers.get("server-timing"), /^charge;dur=\d+\.\d+, answer;dur=\d+\.\d+$/);
  const plain = await gateway.post(batch);
  for (const name of ["x-tollgate-cache", "x-tollgate-validator", "server-timing"]) {
    t.equal(plain.headers.get(name), null, name);
  }
});

t.test("Cache-Control: no-cache has a validator asked, for everybody after it too", async (t) => {
  const { gateway, calls } = await startRig(t);
  await ask(gateway, "eth_getBalance", [address, "latest"]);
  for (const value of ["no-cache", "max-age=0, No-Cache"]) {
    const fresh = await ask(gateway, "eth_getBalance", [address, "latest"], { "Cache-Control": value });
    t.equal(fresh.source, "miss", value);
  }
  t.equal(calls("eth_getBalance"), 3);
  const other = await ask(gateway, "eth_getBalance", [address, "latest"], { "Cache-Control": "max-age=0" });
  t.equal(other.source, "hit");
});

t.test("a cached answer is charged", async (t) => {
  const { gateway } = await startRig(t);
  const remaining = async () => {
    const { headers } = await ask(gateway, "eth_getBalance", [address, "latest"]);
    return Number(/;r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  };
  const before = await remaining();
  t.equal(await remaining(), before - 1);
});

t.test(
  "one number for a whole batch: the block that its number names is the one its reads are of",
  async (t) => {
    const { cluster, gateway } = await startRig(t);
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "eth_blockNumber" },
      { jsonrpc: "2.0", id: 2, method: "eth_getBlockByNumber", params: ["latest", false] },
      { jsonrpc: "2.0", id: 3, method: "eth_getBlockByNumber", params: ["finalized", false] },
    ];
    for (let block = 0; block < 5; block += 1) {
      const [{ json }] = await Promise.all([gateway.post(batch), cluster.mine(1)]);
      if (!Array.isArray(json)) throw new Error("no batch came back");
      const [number, latest, finalized] = json.map(({ result }) => result);
      t.equal(latest.number, number);
      t.equal(finalized.number, number);
    }
  },
);

t.test("a block above the head is waited for, and then cached", async (t) => {
  const { cluster, gateway } = await startRig(t);
  const [, next] = await Promise.all([
    // The call has come by then, and still waits: it would for half a second.
    new Promise((resolve) => setTimeout(resolve, 50)).then(() => cluster.mine(1)),
    ask(gateway, "eth_getBlockByNumber", ["0x4", false]),
  ]);
  t.match(next.result, { number: "0x4" });
  t.equal((await ask(gateway, "eth_getBlockByNumber", ["0x4", false])).source, "hit");
  const started = performance.now();
  t.equal((await ask(gateway, "eth_getBlockByNumber", ["0x5", false])).result, null);
  t.ok(performance.now() - started >= 490, "half a second");
  const far = startStopwatch();
  t.equal((await ask(gateway, "eth_getBlockByNumber", ["0xffff", false])).result, null);
  t.ok(far.elapsedMs() < 450, "a number that is far away is not waited for");
});

t.test("a receipt is shown when its block is announced, not before", async (t) => {
  const { cluster, gateway } = await startRig(t);
  const wallet = developmentWallet(2);
  for (let nonce = 0; nonce < 5; nonce += 1) {
    const { result: hash } = await ask(gateway, "eth_sendRawTransaction", [await signed(wallet, nonce)]);
    t.equal((await ask(gateway, "eth_getTransactionReceipt", [hash])).result, null);
    await cluster.gossiped();
    await cluster.mine(1);
    const { result: receipt } = await ask(gateway, "eth_getTransactionReceipt", [hash]);
    const { result: number } = await ask(gateway, "eth_blockNumber", []);
    t.match(receipt, { blockNumber: number }, "which was mined a moment ago");
    // An answer over which the head changed is not kept, as the first one's is where this process is slow.
    const kept = await waitFor("the receipt comes from the cache", async () => {
      const answer = await ask(gateway, "eth_getTransactionReceipt", [hash]);
      return answer.source === "hit" && answer;
    });
    t.match(kept, { result: receipt });
    t.match(await ask(gateway, "eth_getTransactionCount", [wallet.address, "latest"]), {
      result: hex(nonce + 1),
    });
  }
});

t.test("a hash that nobody knows yet is asked for again when the next block is announced", async (t) => {
  const { cluster, gateway } = await startRig(t);
  const nobody = await ask(gateway, "eth_getBlockByHash", [`0x${"12".repeat(32)}`, false]);
  t.equal(nobody.result, null);
  const block = await cluster.mine(1);
  const { result } = await ask(gateway, "eth_getBlockByHash", [block?.hash, false]);
  t.match(result, { number: "0x4" });
});

t.test("a chain made anew gets no cached answer of the old one", async (t) => {
  const { cluster, gateway } = await startRig(t);
  const genesis = async () => {
    const { result } = await ask(gateway, "eth_getBlockByNumber", ["0x0", false]);
    return typeof result === "object" && result !== null && "hash" in result ? result.hash : undefined;
  };
  const before = await genesis();
  t.equal((await ask(gateway, "eth_getBlockByNumber", ["0x0", false])).source, "hit");
  await cluster.reset();
  const endsAtMs = performance.now() + 8000;
  let after = await genesis();
  while ((after === before || after === undefined) && performance.now() < endsAtMs) after = await genesis();
  t.not(after, before);
  t.equal(after, cluster.block(0)?.hash);
});
