import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { waitFor } from "../helpers/wait-for.ts";
import { isObject, type JsonObject } from "./validators/json.ts";
import { ask, developmentWallet, openSocket, signed } from "./validators/rpc.ts";
import { startValidators, type Validators } from "./validators/start-validators.ts";

const [alice, bob] = [developmentWallet(0), developmentWallet(1)];

async function heights(cluster: Validators): Promise<number[]> {
  return await Promise.all(
    cluster.urls.map(async (url) => Number((await ask(url, "eth_blockNumber"))["result"])),
  );
}

async function block(cluster: Validators, param: string, index = 0): Promise<JsonObject> {
  const { result } = await ask(cluster.validator(index).url, "eth_getBlockByNumber", [param, false]);
  return isObject(result) ? result : {};
}

async function send(cluster: Validators, index: number, raw: string): Promise<string> {
  const answer = await ask(cluster.validator(index).url, "eth_sendRawTransaction", [raw]);
  return String(answer["result"]);
}

/** What all validators say is what the chain behind them says. */
async function agreesWithAnvil(t: Test, cluster: Validators): Promise<void> {
  const truth = await cluster.anvil.ask("eth_getBalance", [bob.address, "latest"]);
  for (const url of cluster.urls)
    t.strictSame(await ask(url, "eth_getBalance", [bob.address, "latest"]), truth);
}

t.test(
  "blocks are made by block time, linked, signed in turn, and stop while the chain is paused",
  async (t) => {
    const cluster = await startValidators(t, { blockTimeMs: 40 });
    await waitFor("there are six blocks", () => cluster.height() >= 6);
    cluster.pause();
    await cluster.mine();
    const stalledAt = cluster.height();
    await sleep(120);
    t.equal(cluster.height(), stalledAt);
    t.strictSame(await heights(cluster), Array(5).fill(stalledAt));

    const chain = Array.from({ length: stalledAt + 1 }, (_, number) => cluster.block(number));
    for (const [number, one] of chain.entries()) {
      if (number > 0) t.equal(one?.parentHash, chain[number - 1]?.hash);
      if (number > 1) t.ok((one?.timestampSeconds ?? 0) > (chain[number - 1]?.timestampSeconds ?? 0));
    }
    t.equal(new Set(chain.slice(1, 6).map((one) => one?.json["miner"])).size, 5);
    cluster.resume();
    await waitFor("blocks are made again", () => cluster.height() > stalledAt);
    t.ok(await ask(cluster.validator(0).url, "ibft_getSignerMetrics"));
  },
);

t.test(
  "only what the proposer's pool holds is mined; a validator that is down proposes nothing",
  async (t) => {
    const cluster = await startValidators(t, { gossipDelayMs: 60_000 });
    const hash = await send(cluster, 3, await signed(alice, 0));
    t.strictSame(
      cluster.validators.map((validator) => validator.pendingHashes()),
      [[], [], [], [hash], []],
    );
    t.strictSame(await ask(cluster.validator(1).url, "eth_getTransactionByHash", [hash]), { result: null });
    t.match(await ask(cluster.validator(3).url, "eth_getTransactionByHash", [hash]), { result: { hash } });
    const mined = async () => (await cluster.mine())?.transactions.map((transaction) => transaction.hash);
    t.strictSame([await mined(), await mined()], [[], []], "validators 1 and 2 have not heard of it");
    t.strictSame(await mined(), [hash], "validator 3 has");

    await send(cluster, 1, await signed(alice, 1));
    cluster.validator(1).hang();
    t.strictSame([await mined(), await mined(), await mined()], [[], [], []], "validator 1 is passed over");
  },
);

t.test("two validators given the same nonce at the same price: one of the two is mined", async (t) => {
  const cluster = await startValidators(t);
  const hashes = [
    await send(cluster, 1, await signed(alice, 0, { value: 1n })),
    await send(cluster, 2, await signed(alice, 0, { value: 2n })),
  ];
  t.not(hashes[0], hashes[1]);
  await cluster.gossiped();
  await cluster.mine(5);
  const receipts = await Promise.all(
    hashes.map((hash) => ask(cluster.validator(0).url, "eth_getTransactionReceipt", [hash])),
  );
  t.equal(receipts.filter(({ result }) => result !== null).length, 1);
  t.strictSame(
    cluster.validators.flatMap((validator) => validator.pendingHashes()),
    [],
  );
});

t.test("a reverted chain is shorter everywhere, then another; heads tell it by their parents", async (t) => {
  const cluster = await startValidators(t);
  await cluster.mine(3);
  const { url } = cluster.validator(0);
  const hash = await send(cluster, 4, await signed(alice, 0, { to: bob.address, value: 9n }));
  const gone = await cluster.mine();
  await cluster.mine(2);
  t.match(await ask(url, "eth_getTransactionReceipt", [hash]), { result: { blockNumber: "0x4" } });
  const socket = await openSocket(cluster.validator(0).wsUrl ?? "");
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
  await socket.next();

  await cluster.revert(3);
  t.strictSame(await heights(cluster), [3, 3, 3, 3, 3]);
  t.strictSame(await ask(url, "eth_getTransactionReceipt", [hash]), { result: null });
  t.strictSame(await ask(url, "eth_getBlockByHash", [gone?.hash, false]), { result: null });
  await agreesWithAnvil(t, cluster);
  await t.rejects(cluster.revert(3), { message: /cannot go back/ });

  const next = await cluster.mine();
  t.not(next?.hash, gone?.hash);
  t.equal(next?.parentHash, gone?.parentHash);
  t.match(await socket.next(), next?.hash);
  t.strictSame(socket.frames, []);
  await socket.close();
});

t.test("a reset is another genesis at the same addresses, with new processes or the old ones", async (t) => {
  const cluster = await startValidators(t);
  const own = (await block(cluster, "0x0"))["hash"];
  await cluster.mine(2);
  await send(cluster, 2, await signed(alice, 0));
  const socket = await openSocket(cluster.validator(0).wsUrl ?? "");
  const filter = (await ask(cluster.validator(0).url, "eth_newBlockFilter"))["result"];

  await cluster.reset({ keepConnections: true });
  const second = (await block(cluster, "0x0"))["hash"];
  t.not(second, own);
  t.strictSame(await heights(cluster), [0, 0, 0, 0, 0]);
  t.strictSame(await ask(cluster.validator(0).url, "eth_getFilterChanges", [filter]), { result: [] });
  t.equal(socket.socket.readyState, socket.socket.OPEN);
  await agreesWithAnvil(t, cluster);

  await cluster.mine(3);
  await cluster.reset();
  t.equal(await socket.closed, 1006);
  t.not((await block(cluster, "0x0"))["hash"], second);
  t.strictSame(await heights(cluster), [0, 0, 0, 0, 0]);
  t.match(await ask(cluster.validator(0).url, "eth_getFilterChanges", [filter]), { error: { code: -32000 } });
  t.strictSame(
    cluster.validators.flatMap((validator) => validator.pendingHashes()),
    [],
  );
  await send(cluster, 1, await signed(alice, 0));
  t.equal((await cluster.mine())?.transactions.length, 1);
});

t.test("a killed chain refuses everywhere and comes back at what was saved, or at its genesis", async (t) => {
  const cluster = await startValidators(t);
  await send(cluster, 1, await signed(alice, 0, { to: bob.address, value: 9n }));
  const saved = await cluster.mine();
  await cluster.saveChain();
  const lost = await cluster.mine(2);
  const { url } = cluster.validator(0);
  await cluster.validator(4).die();

  await cluster.killChain();
  for (const each of cluster.urls) await t.rejects(ask(each, "eth_chainId"), { code: "ECONNREFUSED" });
  await t.rejects(cluster.mine());
  await cluster.restartChain();
  t.equal((await block(cluster, "latest"))["hash"], saved?.hash);
  t.strictSame(await ask(url, "eth_getBlockByHash", [lost?.hash, false]), { result: null });
  t.match(await ask(url, "eth_getBalance", [bob.address, "0x0"]), { result: "0xd3c21bcecceda1000000" });
  t.match(await ask(url, "eth_getBalance", [bob.address, "0x1"]), { result: "0xd3c21bcecceda1000009" });
  await t.rejects(ask(cluster.validator(4).url, "eth_chainId"), "what was dead before stays dead");
  await cluster.healAll();
  await agreesWithAnvil(t, cluster);
  t.equal((await cluster.mine())?.parentHash, saved?.hash);

  const genesis = (await block(cluster, "0x0"))["hash"];
  await cluster.reset();
  const another = (await block(cluster, "0x0"))["hash"];
  t.not(another, genesis);
  await cluster.mine(4);
  await cluster.killChain();
  await cluster.restartChain();
  t.strictSame(await heights(cluster), [0, 0, 0, 0, 0]);
  t.equal((await block(cluster, "0x0"))["hash"], another);
  await agreesWithAnvil(t, cluster);
});

t.test("the state may be changed behind the validators' backs, and they see it", async (t) => {
  const cluster = await startValidators(t, { count: 2 });
  const { url } = cluster.validator(0);
  t.strictSame(await ask(url, "eth_getBalance", [bob.address, "latest"]), {
    result: "0xd3c21bcecceda1000000",
  });
  await cluster.anvil.ask("anvil_setBalance", [bob.address, "0x5"]);
  t.strictSame(await ask(url, "eth_getBalance", [bob.address, "latest"]), { result: "0x5" });
});

t.test("when a test ends nothing of its validators is left", async (t) => {
  const stops: (() => Promise<void>)[] = [];
  const cluster = await startValidators(
    { teardown: (stop) => stops.push(stop) },
    { count: 2, blockTimeMs: 50 },
  );
  const anvil = cluster.anvil.url() ?? "";
  cluster.validator(0).hang();
  const hung = ask(cluster.validator(0).url, "eth_chainId").catch(() => "ended");
  await cluster.validator(1).die();
  t.equal(stops.length, 1);
  for (const stop of stops) await stop();
  await hung;
  for (const url of [anvil, ...cluster.urls])
    await t.rejects(fetch(url), { cause: { code: "ECONNREFUSED" } });
});

t.test("a test that is killed in the midst leaves no anvil behind", async (t) => {
  const helper = new URL("./validators/anvil-process.ts", import.meta.url).href;
  const script = `
    const { startAnvilProcess } = await import(${JSON.stringify(helper)});
    console.log((await startAnvilProcess({ chainId: 8845, genesisTimestampSeconds: 1 })).url);
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [said] = await once(child.stdout, "data");
  const url = String(said).trim();
  t.equal((await ask(url, "eth_chainId"))["result"], "0x228d");
  child.kill("SIGKILL");
  await once(child, "exit");
  const isGone = () =>
    ask(url, "eth_chainId").then(
      () => false,
      (error: unknown) => Reflect.get(Object(error), "code") === "ECONNREFUSED",
    );
  t.ok(await waitFor("nobody listens there any more", isGone));
});
