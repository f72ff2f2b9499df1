import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { readBackupConfig } from "../../../scripts/backup/config.ts";
import { start } from "../../../scripts/backup/service/start.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { backupHere } from "./support/backup-here.ts";

const hourMs = 3_600_000;

/** The service with a clock of the test's own, before a Redis. */
async function serve(t: Test) {
  const redis = await startRedis(t);
  const { folder, keys, to } = await backupHere(t);
  const spool = join(folder, "spool");
  const config = (profile: string) => ({
    ...readBackupConfig({
      file: "config/backup.yaml",
      env: {
        TOLLGATE_PROFILE: profile,
        BACKUP_TO: to,
        BACKUP_KEYS: keys,
        BACKUP_REDIS_URL: redis.url,
        BACKUP_WAL_SPOOL: spool,
      },
    }),
    everyHours: 24,
    keep: 2,
    walEveryMs: 100,
    ops: { host: "127.0.0.1", port: 0, hosts: [] },
  });
  const clock = { nowMs: Date.UTC(2027, 0, 1) };
  const run = async (profile = "production") => {
    const service = await start(config(profile), {
      logger: pino({ level: "silent" }),
      now: () => clock.nowMs,
      path: process.env["PATH"],
    });
    t.teardown(service.stop);
    const get = async (page: string) => (await fetch(`http://127.0.0.1:${service.opsPort}/${page}`)).text();
    const metric = async (name: string) =>
      Number(new RegExp(`^tollgate_backup_${name} (\\S+)$`, "m").exec(await get("metrics"))?.[1]);
    return { ...service, get, metric };
  };
  const identity = join(keys, "identity.txt");
  const putAway = () => renameSync(identity, join(folder, "identity.txt"));
  const backups = () => readdirSync(to).filter((name) => /^\d/.test(name));
  return { redis, run, clock, putAway, backups, spool, to, folder };
}

t.test("where the key that reads backups lies beside, production does not start", async (t) => {
  const { run, putAway } = await serve(t);
  await t.rejects(run(), /identity\.txt reads every backup.*put it and verify-key\.pem away/);
  putAway();
  await run();
});

t.test(
  "a backup is taken when one is due, tells its age, and a failed one is tried again later",
  async (t) => {
    const { run, putAway, clock, backups, redis } = await serve(t);
    putAway();
    const { metric, get, stop } = await run();
    await waitFor("the first backup", async () => (await metric("last_success_timestamp_seconds")) > 0);
    t.equal(await metric("last_success_timestamp_seconds"), clock.nowMs / 1000);
    t.equal(await metric("every_seconds"), 86_400);
    clock.nowMs += 24 * hourMs;
    await waitFor("the second", () => backups().length === 2);
    await redis.stop();
    clock.nowMs += 24 * hourMs;
    await waitFor("a failure is counted", async () => (await metric("failures_total")) === 1);
    t.match(await get("readyz"), /"degraded": true[\s\S]*cannot be reached/);
    t.equal(await metric("last_success_timestamp_seconds"), Date.UTC(2027, 0, 2) / 1000, "the age goes on");
    await redis.restart();
    clock.nowMs += 11 * 60_000;
    await waitFor(
      "it is tried again, and the oldest goes",
      () => backups().join() === "20270102T000000,20270103T001100",
    );
    await stop();
    // One that starts again knows of the newest.
    const again = await run();
    t.equal(await again.metric("last_success_timestamp_seconds"), clock.nowMs / 1000);
  },
);

t.test("a copy of one part that somebody took by hand is not the day's backup", async (t) => {
  const { run, putAway, clock, backups, redis, folder } = await serve(t);
  const byHand = await backupHere(t, { BACKUP_REDIS_FAUCET_URL: redis.url }, { folder });
  await byHand.must("take", "--only", "redis-faucet");
  putAway();
  clock.nowMs = Date.now() + hourMs;
  const { metric } = await run();
  await waitFor("the whole one", async () => (await metric("last_success_timestamp_seconds")) > 0);
  t.equal(backups().length, 2);
});

t.test("PostgreSQL's log is taken out of the spool, and one that cannot be is told", async (t) => {
  const { run, putAway, spool, to, clock } = await serve(t);
  putAway();
  clock.nowMs = Date.now();
  const { metric } = await run();
  t.ok(existsSync(spool), "it makes the folder that PostgreSQL waits for");
  const segment = Buffer.alloc(8192, 1);
  segment.writeBigUInt64LE(9n, 24);
  writeFileSync(join(spool, "000000010000000000000001"), segment);
  await waitFor("it is shipped", async () => (await metric("wal_shipped_files_total")) === 1);
  t.same(readdirSync(spool), []);
  t.equal(readdirSync(join(to, "wal/9")).length, 3);
  mkdirSync(join(spool, "000000010000000000000002"));
  await waitFor("a failure is counted", async () => (await metric("wal_failures_total")) > 0);
  clock.nowMs += 600_000;
  await waitFor("what waits is told", async () => (await metric("wal_waiting_seconds")) >= 590);
  t.equal(await metric("wal_archiving"), 1, "no PostgreSQL is named here");
});
