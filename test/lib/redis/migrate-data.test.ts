import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { faucetData, keysData } from "../../../lib/redis/data-migrations.ts";
import { faucetDataKey, faucetMigratingKey, keysDataKey } from "../../../lib/redis/keys/data.ts";
import { checkRedisData, migrateRedisData, RedisDataError } from "../../../lib/redis/migrate-data.ts";
import { createRedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { compareVersions } from "../../../lib/version.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { runCommand } from "../../helpers/run-command.ts";
import { sampleCount, sampleData, sampleKey, writeSamples } from "./support/sample-data.ts";

const logger = pino({ level: "silent" });
const program = join(import.meta.dirname, "support", "migrate-once.ts");
const server = await startRedis(t);

async function client(t: Test) {
  const redis = createRedisClient({ url: server.url, name: "test", logger, commandTimeoutMs: 5000 });
  t.teardown(() => redis.disconnect());
  await waitForRedis({ redis, logger });
  await redis.flushall();
  return redis;
}

const migrateOnce = (t: Test, ...args: string[]) =>
  runCommand(t, { program: process.execPath, args: [program, server.url, ...args] });

t.test("data without a mark is of the first version, and is marked once", async (t) => {
  const redis = await client(t);
  t.same(await migrateRedisData({ redis, data: keysData, logger, version: "0.1.0" }), ["v0.1.0-first"]);
  t.same(await migrateRedisData({ redis, data: keysData, logger, version: "0.1.0" }), []);
  const mark = await redis.hgetall(keysDataKey);
  t.match(JSON.parse(mark["v0.1.0-first"] ?? ""), {
    version: "0.1.0",
    lets: "0.1.0",
    by: "0.1.0",
    atMs: Number,
  });
  t.same(await redis.keys("*migrating*"), [], "the lock is given back");
});

t.test("what is killed on its way is gone on with where it was, and done once", async (t) => {
  const redis = await client(t);
  await writeSamples(redis);
  const { code, lines } = await migrateOnce(t, "7");
  t.equal(code, null, lines.join("\n"));
  const between = await redis.hgetall(faucetDataKey);
  t.match(JSON.parse(between["underway"] ?? ""), { name: "v0.2.0-add-name", cursor: "300" });
  t.equal(await redis.hget(sampleKey(999), "label"), "l999", "the version before reads on");
  const pieces: number[] = [];
  const data = sampleData({ onPiece: (count) => pieces.push(count) });
  t.same(await migrateRedisData({ redis, data, logger, version: "0.2.0", lockMs: 1000 }), [
    "v0.2.0-add-name",
  ]);
  t.equal(pieces.length, 20 - 6, "only what was not saved is done again");
  const after = await redis.hgetall(faucetDataKey);
  t.same(Object.keys(after).sort(), ["v0.1.0-first", "v0.2.0-add-name"]);
  const pipeline = redis.pipeline();
  for (let number = 0; number < sampleCount; number += 1) pipeline.hmget(sampleKey(number), "label", "name");
  const rows = (await pipeline.exec()) ?? [];
  t.ok(rows.every(([, row], number) => Array.isArray(row) && row.every((value) => value === `l${number}`)));
});

t.test("of several processes that start at once one migrates, and the others wait for it", async (t) => {
  const redis = await client(t);
  await writeSamples(redis);
  const outcomes = await Promise.all([1, 2, 3].map(() => migrateOnce(t)));
  const finished = outcomes.flatMap(({ code, lines }) => {
    t.equal(code, 0, lines.join("\n"));
    return JSON.parse(lines.at(-1) ?? "");
  });
  t.same(finished.sort(), ["v0.1.0-first", "v0.2.0-add-name"]);
  const changes = new Set<string | null>();
  for (let number = 0; number < sampleCount; number += 1)
    changes.add(await redis.hget(sampleKey(number), "changes"));
  t.same([...changes], ["1"]);
});

t.test("one that has lost the lock writes no more, and leaves the rest to who has it", async (t) => {
  const redis = await client(t);
  await writeSamples(redis);
  let taken = false;
  const data = sampleData({
    onPiece() {
      if (taken) return;
      taken = true;
      // As after a pause that was longer than the lock: another process has it now, and ends soon.
      void redis.set(faucetMigratingKey, "another", "PX", 300);
    },
  });
  t.same(await migrateRedisData({ redis, data, logger, version: "0.2.0" }), [
    "v0.1.0-first",
    "v0.2.0-add-name",
  ]);
  t.equal(await redis.hget(sampleKey(0), "changes"), "2", "the piece whose end was not saved is done again");
});

t.test("others that migrate are waited for so long and no longer", async (t) => {
  const redis = await client(t);
  await redis.set(faucetMigratingKey, "another", "PX", 60_000);
  await t.rejects(
    migrateRedisData({ redis, data: sampleData(), logger, version: "0.2.0", othersTimeoutMs: 300 }),
    { message: /another process has been migrating samples for 300 ms/ },
  );
});

t.test("a version that newer data lets goes on, one that it does not let is refused", async (t) => {
  const redis = await client(t);
  const newer = { version: "0.4.0", lets: "0.3.0", by: "0.4.0", atMs: 1 };
  await redis.hset(keysDataKey, "v0.4.0-packed", JSON.stringify(newer));
  const said: unknown[] = [];
  const told = { info: () => {}, warn: (fields: unknown) => said.push(fields) };
  t.same(await migrateRedisData({ redis, data: keysData, logger: told, version: "0.3.0" }), ["v0.1.0-first"]);
  t.match(said, [{ data: "0.4.0", migration: "v0.4.0-packed", version: "0.3.0" }]);
  await checkRedisData({ redis, data: keysData, version: "0.3.1" });
  for (const refused of [
    () => migrateRedisData({ redis, data: keysData, logger, version: "0.2.9" }),
    () => checkRedisData({ redis, data: keysData, version: "0.2.9" }),
  ]) {
    await t.rejects(async () => void (await refused()), {
      name: RedisDataError.name,
      message:
        /API keys, limits and filters in Redis are of version 0\.4\.0.*no version before 0\.3\.0.*this is 0\.2\.9.*RUNBOOK/s,
    });
  }
});

t.test("a gateway does not start over data that is too new for it, nor do keys change", async (t) => {
  const redis = await client(t);
  const newer = { version: "99.0.0", lets: "99.0.0", by: "99.0.0", atMs: 1 };
  await redis.hset(keysDataKey, "v99.0.0-packed", JSON.stringify(newer));
  const refusal = { name: "RedisDataError", message: /lets no version before 99\.0\.0/ };
  await t.rejects(startGateway(t, { redisUrl: server.url, upstreams: ["http://127.0.0.1:1"] }), refusal);
  t.same(await redis.keys("{keys}:*"), [keysDataKey], "it has written nothing");
  const keys = join(import.meta.dirname, "../../../scripts/keys/main.ts");
  const { code, lines } = await runCommand(t, {
    program: process.execPath,
    args: [keys, "list", "--redis", server.url],
  });
  t.match({ code, said: lines.join("\n") }, { code: 1, said: /lets no version before 99\.0\.0/ });
});

t.test("the lists are in the order of their versions, by unique names", async (t) => {
  for (const { migrations } of [keysData, faucetData]) {
    const versions = migrations.map(({ name }) => /^v(\d+\.\d+\.\d+)-[a-z0-9-]+$/.exec(name)?.[1] ?? "none");
    t.same(versions, versions.toSorted(compareVersions));
    t.notOk(versions.includes("none"));
    t.equal(new Set(migrations.map(({ name }) => name)).size, migrations.length);
    for (const [index, { lets }] of migrations.entries())
      t.ok(compareVersions(lets, versions[index] ?? "") <= 0, lets);
  }
});
