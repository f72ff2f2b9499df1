import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Redis } from "ioredis";
import t, { type Test } from "tap";
import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import { createKeyStore, type KeyStore } from "../../../lib/keys/key-store.ts";
import type { KeyWatch } from "../../../lib/keys/watch-keys.ts";
import {
  keyChangesChannel,
  keyLostKey,
  keyRecordKey,
  keyVersionKey,
} from "../../../lib/redis/keys/api-keys.ts";
import type { RedisClient } from "../../../lib/redis/redis-client.ts";
import { flushAll, mastersOf } from "../../helpers/redis.ts";
import { startStopwatch } from "../../helpers/stopwatch.ts";
import { acmeKey, mustCreate, startKeyRig, waitForStore } from "./key-store-rig.ts";

type Watched = { watch: KeyWatch; heard: string[]; gaps: () => number };

/** A watch that has subscribed; what it hears from then on. */
async function startWatch(
  t: Test,
  store: KeyStore,
  { checkIntervalMs = 60_000, commandTimeoutMs = 1_000 } = {},
): Promise<Watched> {
  const heard: string[] = [];
  let gaps = 0;
  const watch = store.watch({
    onChange: (hash) => heard.push(hash),
    onTeamChange: (team) => heard.push(team),
    onMayHaveMissed: () => {
      gaps += 1;
    },
    checkIntervalMs,
    commandTimeoutMs,
  });
  t.teardown(() => watch.stop());
  await waitForStore("subscribed", () => watch.subscribed());
  t.equal(gaps, 1, "what was read before the watch began is to be asked again");
  return { watch, heard, gaps: () => gaps - 1 };
}

/** What the command line does, in a process of its own. Resolves with its standard output. */
function runKeys(url: string, args: string[]): Promise<string> {
  const script = fileURLToPath(new URL("../../../scripts/keys/main.ts", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    env: { PATH: process.env["PATH"], REDIS_URL: url },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once("close", (code) => (code === 0 ? resolve(output) : reject(new Error(`ended with ${code}`))));
  });
}

/** The connection that a watch made for itself. */
async function findWatchConnection(redis: RedisClient): Promise<{ node: Redis; id: number } | undefined> {
  for (const node of mastersOf(redis)) {
    const clients = String(await node.client("LIST"));
    const line = clients.split("\n").find((text) => text.includes("-key-changes"));
    if (line !== undefined) return { node, id: Number(/id=(\d+)/.exec(line)?.[1]) };
  }
  return undefined;
}

t.test("every kind of change is heard at once, in order, by key or by team, with no gap", async (t) => {
  const { store, connect } = await startKeyRig(t);
  const { watch, heard, gaps } = await startWatch(t, createKeyStore({ redis: await connect() }));
  const before = watch.version();
  const { key } = await mustCreate(store);
  const rotated = await store.rotate({ id: key.id, overlapMs: 1_000 });
  if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
  await store.revoke(key.id);
  await store.setTeam({ name: "acme", capPerMinute: 5 });
  const expected = [key.hash, rotated.key.hash, key.hash, key.hash, "acme"];
  await waitForStore("all heard", () => heard.length === expected.length);
  t.strictSame(heard, expected);
  t.equal(watch.version() - before, expected.length);
  t.equal(gaps(), 0);
  await store.revoke(key.id);
  await store.setTeam({ name: "acme", capPerMinute: 5 });
  await mustCreate(store);
  await waitForStore("the next change", () => heard.length > expected.length);
  t.equal(heard.length, expected.length + 1, "what changes nothing is not told");
});

t.test("seeding tells of each key that comes, changes or goes, and nothing of those that stay", async (t) => {
  const { store, connect } = await startKeyRig(t);
  const { heard, gaps } = await startWatch(t, createKeyStore({ redis: await connect() }));
  const seed = { ...acmeKey, secret: "a-word-of-a-developer" };
  await store.seed({ keys: [seed], profile: "development" });
  await store.seed({ keys: [seed], profile: "development" });
  await store.seed({ keys: [{ ...seed, limitPerMinute: 3 }], profile: "development" });
  await store.seed({ keys: [], profile: "development" });
  await waitForStore("three changes", () => heard.length === 3);
  t.equal(new Set(heard).size, 1);
  t.equal(gaps(), 0);
});

t.test("a revocation by another process is heard within a second of it", async (t) => {
  const { store, server } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const { heard } = await startWatch(t, store);
  const revoked = runKeys(server.url, ["revoke", key.id]).then(() => performance.now());
  await waitForStore("heard", () => heard.includes(key.hash));
  const heardAtMs = performance.now();
  const doneAtMs = await revoked;
  // The process says that it is done after Redis has answered, so the change was before.
  t.ok(heardAtMs - doneAtMs < 1_000, `${Math.round(heardAtMs - doneAtMs)} ms after the process ended`);
  t.ok((await store.find(key.hash))?.revokedAtMs);
});

t.test("a revocation whose message was lost is noticed by comparing the version", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const { watch, heard, gaps } = await startWatch(t, store, { checkIntervalMs: 100 });
  // All that the script does, but for the message.
  await redis.hset(keyRecordKey(key.hash), "revokedAtMs", "1700000000000");
  const version = await redis.incr(keyVersionKey);
  const lost = startStopwatch();
  await waitForStore("gap", () => gaps() > 0);
  t.ok(lost.elapsedMs() < 1_000);
  t.equal(watch.version(), version);
  // Three comparisons more.
  await new Promise((resolve) => setTimeout(resolve, 350));
  t.equal(gaps(), 1, "a gap is told once");
  t.strictSame(heard, []);
});

t.test("a lost message is noticed by the next message, before any comparison", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const { heard, gaps } = await startWatch(t, store);
  await redis.incr(keyVersionKey);
  await store.revoke(key.id);
  await waitForStore("gap", () => gaps() === 1);
  t.strictSame(heard, []);
  await store.setTeam({ name: "acme", capPerMinute: 5 });
  await waitForStore("in step again", () => heard.length === 1);
  t.strictSame(heard, ["acme"]);
});

t.test("many changes while versions are compared all the time make no false gap", async (t) => {
  const { store, redis, connect } = await startKeyRig(t);
  const { watch, heard, gaps } = await startWatch(t, createKeyStore({ redis: await connect() }), {
    checkIntervalMs: 1,
  });
  for (let round = 1; round <= 300; round += 1) await store.setTeam({ name: "acme", capPerMinute: round });
  await waitForStore("all heard", () => heard.length === 300);
  t.equal(gaps(), 0);
  t.equal(watch.loss(), undefined, "and no false loss");
  t.equal(watch.lastWhole()?.version, watch.version());
  t.equal(await redis.exists(keyLostKey), 0, "nor was one written down at any time");
});

t.test("a message that is none is a gap, not a crash", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { watch, gaps } = await startWatch(t, store);
  for (const text of ["", "{", "null", '{"version":"1","hash":"a"}', '{"version":1}']) {
    const before = gaps();
    await redis.publish(keyChangesChannel, text);
    await waitForStore(text, () => gaps() === before + 1);
  }
  t.ok(watch.subscribed());
});

t.test("a connection that breaks is made anew, with a gap for what may have passed", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { key } = await mustCreate(store);
  const { watch, heard, gaps } = await startWatch(t, store);
  const connection = await findWatchConnection(redis);
  await connection?.node.client("KILL", "ID", connection.id);
  await store.revoke(key.id);
  await waitForStore("subscribed again", () => gaps() === 1 && watch.subscribed());
  t.equal(watch.version(), Number(await redis.get(keyVersionKey)));
  const before = heard.length;
  await store.setTeam({ name: "acme", capPerMinute: 5 });
  await waitForStore("hears again", () => heard.length === before + 1);
});

t.test("a Redis that comes back empty counts on from a number never seen, and is a gap", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { watch, gaps } = await startWatch(t, store, { checkIntervalMs: 50 });
  const before = watch.version();
  await flushAll(redis);
  await waitForStore("gap", () => gaps() === 1);
  await store.setTeam({ name: "acme" });
  await waitForStore("another", () => gaps() === 2);
  t.ok(watch.version() > before, `${watch.version()} after ${before}`);
});

t.test("Redis killed and started again: not subscribed meanwhile, and again by itself", async (t) => {
  const { store, server } = await startKeyRig(t);
  const { watch, heard, gaps } = await startWatch(t, store);
  await server.kill();
  await waitForStore("lost", () => !watch.subscribed());
  await server.restart();
  await waitForStore("subscribed again", () => watch.subscribed());
  t.equal(gaps(), 1);
  await waitForStore("changed", () => store.setTeam({ name: "acme", capPerMinute: 5 }).then(() => true));
  await waitForStore("hears again", () => heard.includes("acme"));
});

t.test("a Redis that hangs is noticed by the comparison, and heard again when it goes on", async (t) => {
  const { store, server } = await startKeyRig(t);
  const { watch, heard, gaps } = await startWatch(t, store, { checkIntervalMs: 50, commandTimeoutMs: 200 });
  server.freeze();
  await waitForStore("noticed", () => !watch.subscribed());
  server.thaw();
  await waitForStore("subscribed again", () => watch.subscribed());
  t.ok(gaps() >= 1);
  await waitForStore("changed", () => store.setTeam({ name: "acme", capPerMinute: 5 }).then(() => true));
  await waitForStore("hears again", () => heard.includes("acme"));
});

t.test("a watch that begins before Redis is there subscribes when it comes", async (t) => {
  const { store, server } = await startKeyRig(t);
  await server.kill();
  let gaps = 0;
  const nothing = () => {};
  const watch = store.watch({
    onChange: nothing,
    onTeamChange: nothing,
    onMayHaveMissed: () => {
      gaps += 1;
    },
  });
  t.teardown(() => watch.stop());
  // It tries in vain meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.notOk(watch.subscribed());
  await server.restart();
  await waitForStore("subscribed", () => watch.subscribed());
  t.equal(gaps, 1);
});

t.test("a stopped watch hears nothing and leaves no connection", async (t) => {
  const { store, redis } = await startKeyRig(t);
  const { watch, heard } = await startWatch(t, store);
  t.ok(await findWatchConnection(redis));
  watch.stop();
  t.notOk(watch.subscribed());
  let isGone = false;
  while (!isGone) isGone = (await findWatchConnection(redis)) === undefined;
  await store.setTeam({ name: "acme", capPerMinute: 5 });
  t.strictSame(heard, []);
});

t.test("what is remembered by the rule of version() is never older than what was heard", async (t) => {
  const { store, connect } = await startKeyRig(t);
  const reader = createKeyStore({ redis: await connect() });
  const remembered = new Map<string, FoundKey | undefined>();
  let heard = 0;
  const watch = reader.watch({
    onChange: (hash) => {
      heard += 1;
      remembered.delete(hash);
    },
    onTeamChange: () => {},
    onMayHaveMissed: () => remembered.clear(),
  });
  t.teardown(() => watch.stop());
  await waitForStore("subscribed", () => watch.subscribed());
  const races = 200;
  let asked = 0;
  for (let race = 0; race < races; race += 1) {
    const { key } = await mustCreate(store);
    const ask = async () => {
      const before = watch.version();
      const found = await reader.find(key.hash);
      if (watch.version() === before) remembered.set(key.hash, found);
      if (found?.revokedAtMs === undefined) asked += 1;
    };
    await Promise.all([ask(), store.revoke(key.id), ask()]);
    await ask();
  }
  t.ok(asked > 0, `${asked} answers were from before the revocation`);
  await waitForStore("all heard", () => heard === 2 * races);
  t.strictSame(
    [...remembered.values()].filter((found) => found?.revokedAtMs === undefined),
    [],
  );
});
