import { execFile } from "node:child_process";
import { readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { z } from "zod";
import { developmentFeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { runContracts } from "../../scripts/contracts/run-contracts.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { type DevUnderTest, startedDev, stillRunning } from "./dev-rig.ts";

const run = promisify(execFile);
const rich = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const poor = "0x00000000000000000000000000000000000000aa";
const block = z.object({
  hash: z.string(),
  parentHash: z.string(),
  number: z.string(),
  timestamp: z.string(),
  baseFeePerGas: z.string(),
});

// Each waits for blocks and for the chain to be saved, and needs little else.
t.jobs = 5;

t.test("the first start prints what one needs to try it", async (t) => {
  const dev = await startedDev(t, { folder: testFolder(t), postgres: "own" });
  const table = dev.printed().slice(dev.printed().indexOf("Tollgate is up"));

  t.test("80 columns are enough for it", async (t) => {
    t.same(
      // A process may say something between the lines.
      table.split("\n").filter((line) => line.length > 80 && !/^\S+ +│ /.test(line)),
      [],
    );
  });

  t.test("addresses, folders, keys with team and permissions", async (t) => {
    for (const port of Object.values(dev.ports)) t.match(table, `http://127.0.0.1:${port}`);
    t.match(table, await dev.redisUrl());
    t.match(table, ".data/redis");
    t.match(table, ".data/anvil");
    t.match(table, /core \(rpc, faucet, explorer\)\n {4}tg_dev_/);
    t.match(table, /partner-qa \(rpc, explorer\)\n {4}tg_dev_/);
  });

  t.test("the curl line, pasted into a shell, is answered with a block number", async (t) => {
    const line = /^ {2}curl [\s\S]*?[^\\]$/m.exec(table)?.[0] ?? "";
    const { stdout } = await run("/bin/sh", ["-c", line]);
    t.match(JSON.parse(stdout), { jsonrpc: "2.0", id: 1, result: /^0x[0-9a-f]+$/ });
  });

  t.test("the chain has the network's id, makes blocks of two seconds and costs nothing", async (t) => {
    t.equal(await dev.gateway("eth_chainId"), "0x228d");
    // Block 1 is made at once, for the fee contracts.
    await blockAfter({ dev, number: 4 });
    const [first, last] = [await blockAt(dev, 2), await blockAt(dev, 5)];
    const seconds = Number(last.timestamp) - Number(first.timestamp);
    // On a busy machine a block comes late, and the next one at its own time.
    t.ok(Math.abs(seconds - 6) <= 2, `three blocks in ${seconds} s`);
    t.equal(last.baseFeePerGas, "0x0");
  });

  t.test("its Redis keeps every write and drops no key", async (t) => {
    const redis = new Redis(await dev.redisUrl());
    t.teardown(() => redis.disconnect());
    t.same(await redis.config("GET", "appendonly"), ["appendonly", "yes"]);
    t.same(await redis.config("GET", "maxmemory-policy"), ["maxmemory-policy", "noeviction"]);
    t.same(await redis.config("GET", "bind"), ["bind", "127.0.0.1"]);
  });
});

t.test("after Ctrl-C a second start resumes, and --reset begins anew", async (t) => {
  const folder = testFolder(t);
  const first = await startedDev(t, { folder });
  const children = await first.children();
  t.same(Object.keys(children).sort(), ["api", "chain", "faucet", "gateway", "redis", "redis-faucet"]);
  const left = await leaveTraces(first);
  const fees = await feeContracts(first);
  t.match(fees, { hasCode: true, problems: "" });
  first.signal("SIGINT");
  t.same(await first.ended, { code: 0, signal: null });
  t.same(await stillRunning(children), [], "nothing of it runs any more");

  const second = await startedDev(t, { folder });
  t.same(await feeContracts(second), fees, "nothing is deployed again");
  await finds({ t, dev: second, left });
  second.signal("SIGTERM");
  t.same(await second.ended, { code: 0, signal: null });

  const third = await startedDev(t, { folder, args: ["--reset"] });
  t.not((await blockAt(third, 0)).hash, left.genesis, "another chain");
  t.equal(await third.chain("eth_getBalance", [poor, "latest"]), "0x0");
  t.equal(await inRedis(third, (redis) => redis.get("left")), null);
});

t.test("after kill -9 of npm start its children end, and the next start resumes", async (t) => {
  const folder = testFolder(t);
  const first = await startedDev(t, { folder });
  const children = await first.children();
  const left = await leaveTraces(first);
  await savedChain({ folder, after: Date.now() });
  first.signal("SIGKILL");
  await first.ended;
  t.same(await stillRunning(children), [], "no child outlives it");
  await finds({ t, dev: await startedDev(t, { folder }), left });
});

t.test("after kill -9 of everything the next start resumes at what was saved", async (t) => {
  const folder = testFolder(t);
  const first = await startedDev(t, { folder });
  const children = await first.children();
  const left = await leaveTraces(first);
  await savedChain({ folder, after: Date.now() });
  // Redis writes its file to the disk each second.
  await sleep(1100);
  for (const pid of Object.values(children)) process.kill(pid, "SIGKILL");
  first.signal("SIGKILL");
  await first.ended;
  t.same(await stillRunning(children), []);
  await finds({ t, dev: await startedDev(t, { folder }), left });
});

t.test("a saved chain that a crash has cut is set aside, and the one before is resumed", async (t) => {
  const folder = testFolder(t);
  const first = await startedDev(t, { folder });
  const left = await leaveTraces(first);
  await savedChain({ folder, after: Date.now() });
  first.signal("SIGINT");
  await first.ended;
  await truncate(join(folder, ".data/anvil/state.json.gz"), 700);

  const second = await startedDev(t, { folder });
  t.match(
    second.printed(),
    /The saved chain .*state\.json\.gz cannot be read \(.+\)\. It is kept as .*broken/,
  );
  await finds({ t, dev: second, left });
  second.signal("SIGINT");
  await second.ended;
  t.equal((await readdir(join(folder, ".data/anvil"))).filter((name) => name.includes("broken")).length, 1);
});

type Traces = { genesis: string; head: z.output<typeof block>; transaction: string; balance: string };

/** A transfer in a block and a value in Redis. */
async function leaveTraces(dev: DevUnderTest): Promise<Traces> {
  const transaction = String(
    await dev.chain("eth_sendTransaction", [{ from: rich, to: poor, value: "0xde0b6b3a7640000" }]),
  );
  await inRedis(dev, (redis) => redis.set("left", "here"));
  await waitFor(
    "the transaction is in a block",
    async () => (await dev.chain("eth_getTransactionReceipt", [transaction])) !== null,
  );
  return {
    genesis: (await blockAt(dev, 0)).hash,
    head: block.parse(await dev.chain("eth_getBlockByNumber", ["latest", false])),
    transaction,
    balance: String(await dev.chain("eth_getBalance", [poor, "latest"])),
  };
}

async function finds({ t, dev, left }: { t: Test; dev: DevUnderTest; left: Traces }): Promise<void> {
  const number = Number(left.head.number);
  t.equal((await blockAt(dev, 0)).hash, left.genesis, "the same genesis block");
  t.same(await blockAt(dev, number), left.head, "the same blocks");
  t.equal(await dev.chain("eth_getBalance", [poor, "latest"]), left.balance, "the same balance");
  t.match(
    await dev.chain("eth_getTransactionReceipt", [left.transaction]),
    { status: "0x1" },
    "the same receipt",
  );
  t.equal(await inRedis(dev, (redis) => redis.get("left")), "here", "the same Redis");
  const next = await blockAfter({ dev, number });
  t.equal(next.parentHash, (await blockAt(dev, Number(next.number) - 1)).hash, "and new blocks follow");
  t.match(await dev.gateway("eth_blockNumber"), /^0x/);
}

/** The FeeCollector, what its owner has sent, and what `npm run contracts -- check` finds. */
async function feeContracts(dev: DevUnderTest) {
  const { feeCollector, owner } = developmentFeeSettings;
  const problems: string[] = [];
  await runContracts({
    args: ["check", "--rpc", `http://127.0.0.1:${dev.ports.chain}`],
    env: {},
    print: () => {},
    note: (text) => problems.push(text),
  });
  return {
    hasCode: (await dev.chain("eth_getCode", [feeCollector, "latest"])) !== "0x",
    sent: await dev.chain("eth_getTransactionCount", [owner, "latest"]),
    problems: problems.join(),
  };
}

async function blockAt(dev: DevUnderTest, number: number): Promise<z.output<typeof block>> {
  return block.parse(await dev.chain("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]));
}

async function blockAfter({ dev, number }: { dev: DevUnderTest; number: number }) {
  return await waitFor(`a block follows ${number}`, async () => {
    const head = block.parse(await dev.chain("eth_getBlockByNumber", ["latest", false]));
    return Number(head.number) > number && head;
  });
}

/** Saving takes 1 part in 50 of the time: on a busy machine a save of a second is followed by one in 50. */
const slowSaves = { withinMs: 200_000 };

/** Waits until the chain has been saved after that time twice, so that the state before the last has it as well. */
async function savedChain({ folder, after }: { folder: string; after: number }): Promise<void> {
  await waitFor(
    "the chain is saved twice",
    async () => {
      const saved = await stat(join(folder, ".data/anvil/state.previous.json.gz")).catch(() => undefined);
      return saved !== undefined && saved.mtimeMs > after;
    },
    slowSaves,
  );
}

async function inRedis<T>(dev: DevUnderTest, act: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(await dev.redisUrl());
  try {
    return await act(redis);
  } finally {
    redis.disconnect();
  }
}
