import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { keyVersionKey } from "../../lib/redis/keys/api-keys.ts";
import { runKeys } from "../../scripts/keys/run-keys.ts";
import { startStubValidator } from "../fakes/stub-validator.ts";
import { type GatewayUnderTest, startGateway } from "../helpers/gateway.ts";
import { nodeEnvironment } from "../helpers/node-environment.ts";
import { asUser } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { dump, mustCreate, mustFind, startKeyRig } from "../lib/keys/key-store-rig.ts";

/** A Redis with keys of every kind, and the command line before it. */
async function startBackup(t: Test) {
  const rig = await startKeyRig(t);
  const { store } = rig;
  const file = join(testFolder(t), "keys.jsonl");
  const keys = async (...args: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runKeys({
      args,
      env: { REDIS_URL: asUser(rig.server.url, "keys") },
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  await store.setTeam({
    name: "acme",
    limitPerMinute: 300,
    capPerMinute: 1000,
    origins: ["https://a.example"],
  });
  const plain = await mustCreate(store);
  const full = await mustCreate(store, {
    label: "für Ärger",
    permissions: ["rpc", "explorer"],
    limitPerMinute: 42,
    origins: ["https://a.example", "http://localhost:3000"],
    qa: true,
    expiresAtMs: 4_000_000_000_000,
  });
  const revoked = await mustCreate(store);
  await store.revoke(revoked.key.id);
  const old = await mustCreate(store);
  const rotated = await store.rotate({ id: old.key.id, overlapMs: 60_000 });
  if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
  const write = (lines: readonly string[]) => writeFileSync(file, `${lines.join("\n")}\n`);
  const lines = () => readFileSync(file, "utf8").trimEnd().split("\n");
  return { ...rig, keys, file, write, lines, plain, full, revoked, old, rotated };
}

/** What Redis holds of keys and teams, but for their history. */
async function records(redis: Parameters<typeof dump>[0]): Promise<string[]> {
  return (await dump(redis)).split("\n").filter((line) => !/^\{keys\}:(version|history|lost) /.test(line));
}

t.test(
  "a backup brings everything back into an emptied Redis, and a second time changes nothing",
  async (t) => {
    const { redis, keys, file, plain } = await startBackup(t);
    const before = await records(redis);
    t.match(await keys("export", file), { code: 0, out: `5 keys and 1 teams are in ${file}.` });
    t.equal(statSync(file).mode & 0o777, 0o600);
    t.notMatch(readFileSync(file, "utf8"), plain.secret.slice(8), "no secret is in it");

    await redis.flushall();
    t.match(await keys("import", file), { code: 0, out: /Teams: 1 made\.\nKeys: 5 made\./ });
    t.strictSame(await records(redis), before);
    const version = await redis.get(keyVersionKey);
    t.match(await keys("import", file), {
      code: 0,
      out: /Teams: 1 there already\.\nKeys: 5 there already\./,
    });
    t.strictSame(await records(redis), before);
    t.equal(await redis.get(keyVersionKey), version, "nobody is told of a change");
    t.match(JSON.parse((await keys("import", file, "--json")).out), {
      mode: "keep",
      teams: { unchanged: 1 },
      keys: { unchanged: 5 },
      confirmed: false,
    });
  },
);

t.test("a backup goes through a pipe", async (t) => {
  const { keys, server, redis } = await startBackup(t);
  const before = await records(redis);
  const { out, err } = await keys("export", "-");
  t.equal(err, "5 keys and 1 teams.");
  await redis.flushall();
  const main = fileURLToPath(new URL("../../scripts/keys/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "import", "-"], {
    env: { ...nodeEnvironment, REDIS_URL: server.url },
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.stdin.end(`${out}\n`);
  t.equal(await new Promise((resolve) => child.once("close", resolve)), 0);
  t.strictSame(await records(redis), before);
});

t.test("a backup replaces the one before, whole, whatever its permissions were", async (t) => {
  const { keys, file, store } = await startBackup(t);
  writeFileSync(file, "an older one");
  chmodSync(file, 0o644);
  t.equal((await keys("export", file)).code, 0);
  t.equal(statSync(file).mode & 0o777, 0o600);
  await mustCreate(store);
  t.match(await keys("export", file), { code: 0, out: /6 keys/ });
  t.strictSame(readdirSync(join(file, "..")), ["keys.jsonl"], "nothing lies beside it");
  const elsewhere = join(file, "..", "no-such-folder", "keys.jsonl");
  t.match(await keys("export", elsewhere), { code: 1, err: /cannot be written/ });
  t.notOk(existsSync(elsewhere));
});

t.test("records that cannot be read are named, and the rest is in the file", async (t) => {
  const { keys, file, redis, plain } = await startBackup(t);
  await redis.hset(`{keys}:record:${plain.key.hash}`, "qa", "perhaps");
  const { code, err } = await keys("export", file);
  t.equal(code, 1);
  t.match(err, new RegExp(`${plain.key.id} cannot be read.*qa`));
  t.match(err, /1 records cannot be read and are not in the file/);
  t.match(await keys("import", file), { code: 0, out: /Keys: 4 there already/ });
});

t.test("a file with a bad line is refused by the line's number, and changes nothing", async (t) => {
  const { keys, file, redis, write, lines, plain } = await startBackup(t);
  await keys("export", file);
  const whole = lines();
  await redis.flushall();
  const bad: [name: string, change: (all: string[]) => string[], says: RegExp][] = [
    ["no JSON", (all) => all.with(3, "{"), /line 4: expected a JSON object/],
    ["an empty line", (all) => all.toSpliced(2, 0, ""), /line 3: expected a JSON object/],
    [
      "a wrong type",
      (all) => all.with(2, (all[2] ?? "").replace('"qa":false', '"qa":"no"')),
      /line 3: key\.qa/,
    ],
    [
      "an unknown field",
      (all) => all.with(2, (all[2] ?? "").replace('"qa"', '"gold":1,"qa"')),
      /line 3: key/,
    ],
    [
      "a hash that is none",
      (all) => all.with(2, (all[2] ?? "").replace(plain.key.hash, "00")),
      /line 3: key\.hash/,
    ],
    ["a key twice", (all) => [...all, all[2] ?? ""], /line 8: .*stands in line 3 already/],
    [
      "a team twice",
      (all) => all.toSpliced(2, 0, all[1] ?? ""),
      /line 3: team acme stands in the file twice/,
    ],
    ["a team that is missing", (all) => all.toSpliced(1, 1), /line 2: team acme stands neither/],
    ["a file that was cut", (all) => all.slice(0, -1), /line 1: says 5 keys, the file has 4: is it whole\?/],
    [
      "another version",
      (all) => all.with(0, (all[0] ?? "").replace('"formatVersion":1', '"formatVersion":2')),
      /line 1: formatVersion/,
    ],
    ["another file", () => ['{"name":"tollgate"}'], /line 1: format: .*not a backup of keys/],
    ["an empty file", () => [""], /line 1: expected a JSON object/],
  ];
  for (const [name, change, says] of bad) {
    write(change(whole));
    const { code, err } = await keys("import", file);
    t.equal(code, 1, name);
    t.match(err, says, name);
    t.match(err, /nothing was changed/);
    t.notMatch(err, plain.key.hash, "what stands in a line is not repeated");
    t.equal(await dump(redis), "", name);
  }
  t.match(await keys("import", `${file}.missing`), { code: 1, err: /cannot be read: ENOENT/ });
});

t.test("an import makes no key good again that was revoked later, unless it is told to", async (t) => {
  const { keys, file, store, plain, full, old } = await startBackup(t);
  await keys("export", file);
  await store.revoke(plain.key.id);
  await store.setTeam({ name: "acme", limitPerMinute: 5 });
  const rotated = await store.rotate({ id: full.key.id, overlapMs: 1000 });
  t.match(rotated, { outcome: "rotated" });
  const { code, out, err } = await keys("import", file);
  t.equal(code, 0);
  t.match(out, /Teams: 1 kept as Redis has them\.\nKeys: 3 there already, 2 kept as Redis has them\./);
  t.match(err, /--replace/);
  t.ok((await mustFind(store, plain.key.hash)).revokedAtMs);
  t.ok((await mustFind(store, full.key.hash)).rotatedTo);
  t.match(await store.showTeam("acme"), { limitPerMinute: 5 });

  t.match(await keys("import", file, "--replace"), { code: 0, out: /Keys: 2 changed, 3 there already/ });
  t.notOk((await mustFind(store, plain.key.hash)).revokedAtMs);
  t.equal((await mustFind(store, full.key.hash)).expiresAtMs, 4_000_000_000_000);
  t.match(await store.showTeam("acme"), { limitPerMinute: 300 });
  t.ok((await mustFind(store, old.key.hash)).rotatedTo);
});

t.test("a revocation and a rotation that the file knows of reach a Redis that went back", async (t) => {
  const { keys, file, store, redis, plain, full } = await startBackup(t);
  const names = await redis.keys("{keys}:*");
  const values = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  await store.revoke(plain.key.id);
  await store.rotate({ id: full.key.id, overlapMs: 60_000 });
  await store.setTeam({ name: "acme", limitPerMinute: 7 });
  const before = await records(redis);
  await keys("export", file);
  await redis.flushall();
  for (const [index, name] of names.entries()) await redis.restore(name, 0, values[index] ?? "");
  t.notOk((await mustFind(store, plain.key.hash)).revokedAtMs);
  t.match(await keys("import", file), { code: 0, out: /Teams: 1 changed\.\nKeys: 1 made, 2 changed/ });
  t.strictSame(await records(redis), before);
});

t.test(
  "an id or a secret that is another key's is not written, and nobody is told that all is well",
  async (t) => {
    const { keys, file, write, lines, redis, plain, full } = await startBackup(t);
    await keys("export", file);
    const [header = "", team = "", ...keyLines] = lines();
    const line = keyLines.find((each) => each.includes(plain.key.id)) ?? "";
    await redis.set("{keys}:lost", "9 9 9");
    write([header.replace('"keys":5', '"keys":1'), team, line.replace(plain.key.id, full.key.id)]);
    const { code, err } = await keys("import", file);
    t.equal(code, 1);
    t.match(err, /1 could not be written/);
    t.equal(await redis.exists("{keys}:lost"), 1);
  },
);

t.test("gateways that miss their keys serve them again when a backup is imported", async (t) => {
  const { keys, file, server, redis, store, plain, full, revoked } = await startBackup(t);
  const validator = await startStubValidator(t);
  const start = () =>
    startGateway(t, {
      redisUrl: server.url,
      upstreams: [validator.url],
      change: (config) => ({ ...config, profile: "production", keys: [] }),
    });
  const gateways: GatewayUnderTest[] = await Promise.all([start(), start()]);
  const statuses = (secret: string) =>
    Promise.all(
      gateways.map(
        async (gateway) =>
          (await gateway.post({ jsonrpc: "2.0", id: 1, method: "eth_chainId" }, { key: secret })).status,
      ),
    );
  t.strictSame(await statuses(plain.secret), [200, 200]);
  await keys("export", file);
  const after = await mustCreate(store);
  t.strictSame(await statuses(after.secret), [200, 200]);
  await redis.flushall();
  t.strictSame(await statuses(full.secret), [503, 503]);
  await waitFor("written down", async () => (await redis.exists("{keys}:lost")) === 1);
  t.match(await keys("list"), { code: 0, err: /has lost keys: gateways knew of 6.*import.*confirm/ });

  t.match(await keys("import", file), {
    code: 0,
    err: /changes after this backup, among them at least 1 new keys/,
  });
  const soon = async (secret: string, expected: number) =>
    waitFor(`${expected}`, async () => (await statuses(secret)).every((status) => status === expected), {
      withinMs: 2000,
    });
  await soon(plain.secret, 200);
  await soon(full.secret, 200);
  await soon(revoked.secret, 401);
  await soon(after.secret, 401);
  t.notMatch((await keys("list")).err, /lost/);
  for (const gateway of gateways) {
    await waitFor("whole", async () =>
      /"degraded": false/.test(await (await fetch(`${gateway.opsUrl}/readyz`)).text()),
    );
  }
});

t.test("confirm says how many keys are meant, and how many there were", async (t) => {
  const { keys, redis, store } = await startBackup(t);
  t.match(await keys("confirm"), { code: 0, out: "5 keys are what is meant." });
  const { now } = await store.history();
  await redis.set("{keys}:lost", `${now.version + 1_000_000_000} ${now.begunAt} 9`);
  t.match(JSON.parse((await keys("confirm", "--json")).out), { keys: 5, keysBefore: 9 });
  t.equal(await redis.exists("{keys}:lost"), 0);
  t.ok((await store.history()).now.version > now.version + 1_000_000_000, "above all that was seen");
});
