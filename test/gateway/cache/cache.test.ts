import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import type { StreamedAnswer } from "../../../gateway/upstream/upstream-result.ts";
import { cutFrom, errorAnswer, result, settled, startCache } from "./scripted-upstream.ts";

const address = `0x${"ab".repeat(20)}`;
const hash = `0x${"11".repeat(32)}`;
const latest = [address, "latest"];

t.test("within a block the same call reaches a validator once, and again after it", async (t) => {
  const { ask, asked, reply, moveHead, cache } = startCache();
  t.equal(ask("eth_getBalance", latest).source, "miss");
  await reply(result('"0x1"'));
  for (const same of [
    latest,
    [address],
    [address, "0x3e8"],
    [address.toUpperCase().replace("0X", "0x"), "safe"],
  ]) {
    const { source, answer, isThere } = ask("eth_getBalance", same);
    t.equal(source, "hit");
    t.ok(isThere, "at once");
    t.match(await answer, { afterId: ',"result":"0x1"}', validator: "validator-3" });
  }
  t.equal(ask("eth_getBalance", [`0x${"cd".repeat(20)}`, "latest"]).source, "miss");
  t.equal(ask("eth_getTransactionCount", latest).source, "miss");
  asked.length = 0;
  moveHead(1001);
  t.equal(ask("eth_getBalance", latest).source, "miss");
  t.equal(asked[0]?.call.paramsText, `["${address}","0x3e9"]`);
  t.match(cache.stats(), { head: { hits: 4, misses: 4, joins: 0, entries: 0 } });
});

t.test("what has no block holds until the next one", async (t) => {
  const { ask, reply, moveHead } = startCache();
  ask("eth_gasPrice", []);
  await reply(result('"0x0"'));
  t.equal(ask("eth_gasPrice", []).source, "hit");
  moveHead(1001);
  t.equal(ask("eth_gasPrice", []).source, "miss");
});

t.test("what never changes outlives the block", async (t) => {
  const { ask, reply, moveHead, cache } = startCache();
  const calls: [string, readonly unknown[], string][] = [
    ["eth_chainId", [], '"0x228d"'],
    ["eth_getBalance", [address, "0x10"], '"0x5"'],
    ["eth_getBlockByNumber", ["earliest", false], '{"number":"0x0"}'],
    ["eth_getBlockByHash", [hash, false], '{"number":"0x3e8","hash":"0x11"}'],
    ["eth_getTransactionByHash", [hash], '{"blockNumber":"0x10"}'],
    ["eth_getTransactionReceipt", [hash], '{"blockNumber":"0x3e8"}'],
    ["eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x10" }], "[]"],
  ];
  for (const [method, params, text] of calls) {
    t.equal(ask(method, params).source, "miss");
    await reply(result(text));
  }
  moveHead(1001);
  for (const [method, params] of calls) t.equal(ask(method, params).source, "hit", method);
  t.match(cache.stats(), { forever: { entries: calls.length } });
});

t.test("another chain drops everything, also what is on its way", async (t) => {
  const { ask, reply, moveHead, newChain, cache } = startCache();
  ask("eth_chainId", []);
  await reply(result('"0x228d"'));
  ask("eth_getBalance", [address, "0x10"]);
  newChain();
  t.equal(ask("eth_chainId", []).source, "miss", "no head: nothing is remembered");
  moveHead(1000);
  await reply(result('"0x5"'));
  t.equal(ask("eth_getBalance", [address, "0x10"]).source, "miss", "it was the old chain's");
  t.equal(ask("eth_chainId", []).source, "miss");
  t.match(cache.stats(), { head: { entries: 0 }, forever: { entries: 0 } });
});

t.test("an answer that comes after the head moved is kept only where it names its block", async (t) => {
  const { ask, reply, moveHead } = startCache();
  ask("eth_getBalance", latest);
  ask("eth_gasPrice", []);
  moveHead(1001);
  await reply(result('"0x1"'));
  await reply(result('"0x0"'));
  t.equal(ask("eth_getBalance", [address, "0x3e8"]).source, "hit", "state at a number");
  t.equal(ask("eth_gasPrice", []).source, "miss");
});

t.test("what may become another answer is not kept", async (t) => {
  const receipt = ["eth_getTransactionReceipt", [hash]] as const;
  const cases: [string, string, readonly unknown[], Parameters<typeof result>][] = [
    ["null", "eth_getTransactionByBlockNumberAndIndex", ["latest", "0x9"], ["null"]],
    ["a receipt of a block above the head", ...receipt, ['{"blockNumber":"0x3e9"}']],
    [
      "a transaction that waits",
      "eth_getTransactionByHash",
      [hash],
      ['{"blockHash":null,"blockNumber":null}'],
    ],
    ["a block above the head", "eth_getBlockByHash", [hash, false], ['{"number":"0x3e9"}']],
    ["what a validator said that was behind", "eth_getLogs", [{}], ["[]", { wasAtHead: false }]],
    ["a result with blanks", "eth_chainId", [], ["0", { afterId: ',"result": null}' }]],
    [
      "an answer in another form",
      "eth_chainId",
      [],
      ["0", { beforeId: '{"result":"0x1","id":', afterId: "}" }],
    ],
    ["what is longer than an entry may be", "eth_getCode", latest, [`"0x${"00".repeat(60_000)}"`]],
  ];
  for (const [what, method, params, answer] of cases) {
    const { ask, reply, cache } = startCache();
    const { answer: given } = ask(method, params);
    await reply(result(...answer));
    t.match(await given, { afterId: result(...answer).afterId }, `${what} is answered`);
    t.equal(ask(method, params).source, "miss", `${what} is not remembered`);
    t.match(cache.stats(), { head: { entries: 0 }, forever: { entries: 0 } });
  }
});

t.test("pending and calls that change something reach a validator each time", async (t) => {
  const { ask, asked, cache } = startCache();
  for (const [method, params] of [
    ["eth_getTransactionCount", [address, "pending"]],
    ["eth_estimateGas", [{ to: address }]],
    ["eth_sendRawTransaction", ["0x00"]],
    ["eth_getBalance", [address, "0x3e9"]],
    ["web3_clientVersion", []],
  ] as const) {
    for (const _time of [1, 2]) t.equal(ask(method, params).source, "miss", method);
  }
  t.equal(asked.length, 10);
  t.match(cache.stats(), { head: { misses: 0 }, forever: { misses: 0 } });
});

t.test("a revert at a fixed block is cached, no other error", async (t) => {
  const { ask, reply } = startCache();
  ask("eth_call", [{ to: address }, "latest"]);
  await reply(errorAnswer(3));
  t.equal(ask("eth_call", [{ to: address }, "latest"]).source, "hit");
  ask("eth_call", [{ to: hash }, "latest"]);
  await reply(errorAnswer(-32000));
  t.equal(ask("eth_call", [{ to: hash }, "latest"]).source, "miss");
});

t.test("the same call many times at once is one upstream request, and each has its answer", async (t) => {
  const { ask, asked, reply, cache } = startCache();
  const all = Array.from({ length: 50 }, () => ask("eth_getBalance", latest));
  t.equal(asked.length, 1);
  t.same(
    all.map(({ source }) => source),
    ["miss", ...Array(49).fill("join")],
  );
  await reply(result('"0x1"'));
  for (const { answer } of all) t.match(await answer, { afterId: ',"result":"0x1"}' });
  t.match(cache.stats(), { head: { misses: 1, joins: 49, hits: 0 } });
});

t.test("null is shared by calls that came at once, and by none after them", async (t) => {
  const { ask, asked, reply } = startCache();
  const [, second] = [ask("eth_getTransactionReceipt", [hash]), ask("eth_getTransactionReceipt", [hash])];
  await reply(result("null"));
  t.match(await second?.answer, { afterId: ',"result":null}' });
  t.equal(ask("eth_getTransactionReceipt", [hash]).source, "miss");
  t.equal(asked.length, 1);
});

t.test(
  "a failure is not shared: one of those who waited asks again for all, within their own time",
  async (t) => {
    const { ask, asked, reply, passTime } = startCache();
    const [first, ...others] = Array.from({ length: 5 }, () => ask("eth_getBalance", latest));
    passTime(4000);
    await reply("unavailable");
    t.equal(await first?.answer, "unavailable");
    t.equal(asked.length, 1, "one again");
    t.equal(asked[0]?.options.timeoutMs, 6000, "10 s less those that have passed");
    await reply(result('"0x1"'));
    for (const { answer } of others) t.match(await answer, { afterId: ',"result":"0x1"}' });
  },
);

t.test("a call that waited for two failures fails", async (t) => {
  const { ask, asked, reply } = startCache();
  const all = Array.from({ length: 3 }, () => ask("eth_getBalance", latest));
  await reply("unavailable");
  await reply("unavailable");
  for (const { answer } of all) t.equal(await answer, "unavailable");
  t.same(asked, []);
});

t.test("a stream has one reader: calls that waited for it are sent by themselves", async (t) => {
  const { ask, asked, reply } = startCache();
  const stream: StreamedAnswer = {
    beforeId: "",
    afterId: Buffer.alloc(0),
    validator: "",
    start() {},
    pause() {},
    resume() {},
    abort() {},
  };
  const all = Array.from({ length: 3 }, () => ask("eth_getLogs", [{}]));
  await reply(stream);
  t.equal(await all[0]?.answer, stream);
  t.equal(asked.length, 2);
  await reply(result("[]"));
  await reply(result("[]"));
  for (const { answer } of all.slice(1)) t.match(await answer, { afterId: ',"result":[]}' });
  t.equal(ask("eth_getLogs", [{}]).source, "miss", "and it is not cached");
});

t.test("a fresh call passes the cache by, and leaves the new answer there", async (t) => {
  const { ask, asked, reply, cache } = startCache();
  for (const [method, params] of [
    ["eth_getBalance", latest],
    ["eth_getBalance", [address, "0x10"]],
  ] as const) {
    ask(method, params);
    await reply(result('"0x1"'));
    const { entries, bytes } = cache.stats().head;
    const fresh = ask(method, params, { isFresh: true });
    t.equal(fresh.source, "miss");
    t.equal(ask(method, params).source, "hit", "others are served meanwhile");
    await reply(result('"0x2"'));
    t.match(await fresh.answer, { afterId: ',"result":"0x2"}' });
    t.match(await ask(method, params).answer, { afterId: ',"result":"0x2"}' });
    t.match(cache.stats().head, { entries, bytes }, "in the place of the old one");
  }
  t.same(asked, []);
});

t.test("the block number is the body's head, whatever was announced since", async (t) => {
  const { ask, asked, cache } = startCache();
  const { answer, source } = ask("eth_blockNumber", []);
  t.match(await answer, { afterId: ',"result":"0x3e8"}' });
  t.equal(source, "hit");
  t.same(asked, []);
  t.match(cache.stats(), { head: { hits: 1 } });
});

t.test("the caches are bounded in bytes, each for itself", async (t) => {
  const { ask, reply, cache, moveHead } = startCache({ bytesMax: 100_000 });
  const code = `"0x${"00".repeat(2000)}"`;
  const fill = async (block: string) => {
    for (let index = 0; index < 60; index += 1) {
      ask("eth_getCode", [`0x${String(index).padStart(40, "0")}`, block]);
      await reply(result(code));
    }
  };
  await fill("latest");
  await fill("0x10");
  const { head, forever } = cache.stats();
  t.ok(head.bytes > 20_000 && head.bytes <= 25_000, `${head.bytes} bytes of this block`);
  t.ok(forever.bytes > 65_000 && forever.bytes <= 75_000, `${forever.bytes} bytes for ever`);
  const at = (index: number, block: string) => [`0x${String(index).padStart(40, "0")}`, block];
  t.equal(ask("eth_getCode", at(0, "latest")).source, "hit", "the first that came stay until the next block");
  t.equal(ask("eth_getCode", at(0, "0x10")).source, "miss", "the least recently used goes first");
  t.equal(ask("eth_getCode", at(59, "0x10")).source, "hit");
  moveHead(1001);
  t.match(cache.stats().head, { entries: 0, bytes: 0 });
});

t.test("a call with long parameters is not cached", async (t) => {
  const { ask, reply } = startCache();
  const call = [{ data: `0x${"00".repeat(3000)}` }, "latest"];
  ask("eth_call", call);
  await reply(result('"0x"'));
  t.equal(ask("eth_call", call).source, "miss");
});

t.test("without room nothing is cached and nothing coalesced", async (t) => {
  const { ask, asked, reply } = startCache({ bytesMax: 0 });
  ask("eth_getBalance", latest);
  ask("eth_getBalance", latest);
  t.equal(asked.length, 2);
  await reply(result('"0x1"'));
  t.equal(ask("eth_getBalance", latest).source, "miss");
});

t.test(
  "what is kept keeps neither the body alive that it was asked in, nor the array that answered it",
  async (t) => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const { ask, asked, cache } = startCache();
    const array = "x".repeat(20_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 1000; index += 1) {
      ask("eth_getBalance", [`0x${String(index).padStart(40, "0")}`, "0x10"]);
      asked.shift()?.answer(result("0", { afterId: cutFrom(array, ',"result":"0x1234567890"}') }));
      await settled();
    }
    collect();
    const grown = process.memoryUsage().heapUsed - before;
    t.equal(cache.stats().forever.entries, 1000);
    t.ok(grown < 5_000_000, `${grown} bytes for what was cut from 40 MB`);
  },
);
