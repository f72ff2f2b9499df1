import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { z } from "zod";
import { orderRecord } from "../../../api/merchant/orders/order-record.ts";
import { idOf } from "../../../api/merchant/public-id.ts";
import { migrate } from "../../../lib/postgres/migrate.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { runApi } from "../../../scripts/api/run-api.ts";
import { runKeys } from "../../../scripts/keys/run-keys.ts";
import { findProgram } from "../../../scripts/processes/find-program.ts";
import { startRedis as launchRedis } from "../../../scripts/processes/start-redis.ts";
import { startParentWatch } from "../../../scripts/processes/watch-parent.ts";
import { readPayments } from "../../../scripts/soak/faucet-crashes/read-payments.ts";
import { send, sessionPath, signIn } from "../../api/merchant/support/sign-in.ts";
import {
  askKey,
  dashboardPath,
  keysPath,
  orderKey,
  payOrder,
} from "../../api/merchant/support/start-shop.ts";
import { startApi } from "../../api/support/start-api.ts";
import { faucetAddress, randomAddress } from "../../faucet/support/outside-wallet.ts";
import { startFaucet } from "../../faucet/support/start-faucet.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { openKeyStore } from "../../helpers/api-keys.ts";
import { deployOn } from "../../helpers/fee-collector.ts";
import { startGateway } from "../../helpers/gateway.ts";
import { apiMigrations } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { backupHere } from "./support/backup-here.ts";
import { startArchivingPostgres, withoutPostgresTools } from "./support/start-archiving-postgres.ts";

/*
 * The drill: everything works, a backup is taken, work goes on, everything but the chain is lost, and from the backup and nothing else it
 * serves again. Nobody is paid twice, nothing is sold twice, and what was revoked since does not come back by itself.
 */

t.setTimeout(240_000);
const silent = { info() {}, warn() {} };
const block = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
const keyAnswer = z.object({ key: z.object({ id: z.string(), secret: z.string() }) });
const ledgerStatus = z.object({
  ledger: z.object({ epoch: z.number().optional(), nextBlock: z.number().optional() }),
});

t.test("from nothing to serving", { skip: await withoutPostgresTools() }, async (t) => {
  const [anvil, redis, redisFaucet, postgres] = await Promise.all([
    startAnvil(t),
    startRedis(t),
    startRedis(t),
    startArchivingPostgres(t),
  ]);
  await deployOn(anvil.url);
  await migrate({ url: postgres.url, folder: apiMigrations, logger: silent });
  const backups = await backupHere(t, {
    BACKUP_REDIS_URL: redis.url,
    BACKUP_REDIS_FAUCET_URL: redisFaucet.url,
    BACKUP_POSTGRES_URL: postgres.url,
    BACKUP_WAL_SPOOL: postgres.spool,
    POSTGRES_TOOLS: postgres.tools,
  });
  const [early, late] = [randomAddress(), randomAddress()];
  const allowlist = [early, late].map((address) => ({ address }));
  const serve = (on: { redis: string; redisFaucet: string; postgres: string }) =>
    startAll(t, { ...on, upstream: anvil.url, allowlist });
  const db = await connectPostgres({ url: postgres.url, name: "test", logger: silent });
  const { create, store } = await openKeyStore(t, redis.url);

  const before = await serve({ redis: redis.url, redisFaucet: redisFaucet.url, postgres: postgres.url });
  const { bearer } = await signIn(before.api);
  const buy = async () => {
    const order = await orderKey(before.api, bearer);
    await payOrder(anvil, order);
    await waitFor("the payment is booked", async () => {
      const { rows } = await db.query("select paid_at is not null as paid from svc.orders where id = $1", [
        idOf("ord").parse(order.id),
      ]);
      return rows[0]?.["paid"] === true;
    });
    return orderRecord.parse(order);
  };
  const [kept, revoked] = [await create(), await create()];
  const [first, unclaimed] = [await buy(), await buy()];
  const { secret: bought } = keyAnswer.parse((await askKey(before.api, bearer, first.id)).json).key;
  await before.faucet.ended((await before.faucet.claim({ address: early })).json.claim.id);

  await t.test("a backup is taken while everything works, and is whole", async (t) => {
    const taken = await backups.backup("take");
    t.match(taken, { code: 0, out: /is in .*backups\./ }, taken.err);
    const verified = await backups.backup("verify", "--json");
    t.match(verified, { code: 0 }, verified.err);
    t.match(JSON.parse(verified.out), {
      isWhole: true,
      parts: [
        { name: "redis-faucet" },
        { name: "redis" },
        { name: "postgres", found: /^2 orders, 2 payments, / },
      ],
    });
    t.match(await backups.backup("list"), { code: 0, out: /redis-faucet, redis, postgres/ });
  });

  // Work after the backup, which only the log and the chain know.
  // A key that nobody has used yet is given out again.
  const later = keyAnswer.parse((await askKey(before.api, bearer, unclaimed.id)).json).key;
  t.equal((await before.api.get(dashboardPath, { "X-Svc-Dev-Key": later.secret })).status, 200);
  const second = await buy();
  await store.revoke(revoked.key.id);
  t.equal((await before.gateway.post(block, { key: revoked.secret })).status, 401);
  await before.faucet.ended((await before.faucet.claim({ address: late })).json.claim.id);
  await sleep(20);
  const untilT = new Date();
  await sleep(20);
  const third = await buy();
  t.equal(
    (await send(before.api, `${keysPath}/revoke`, { headers: bearer, body: { keyId: later.id } })).status,
    200,
  );
  const paidBefore = (await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).length;
  const { rows } = await db.query("select pg_walfile_name(pg_switch_wal()) as segment");
  await waitFor("the log up to now is in the spool", async () => {
    const { rows: archived } = await db.query("select last_archived_wal as segment from pg_stat_archiver");
    return archived[0]?.["segment"] === rows[0]?.["segment"];
  });
  t.match(await backups.must("ship", "--json"), { out: /"revoked": 1/ });

  // Everything is lost but the chain and the backups.
  await db.end();
  await Promise.all([before.api.stop(), before.gateway.stop(), before.faucet.stop()]);
  await Promise.all([postgres.kill(), redis.kill(), redisFaucet.kill()]);
  await Promise.all(
    [postgres.folder, redis.folder, redisFaucet.folder].map((folder) => rm(folder, { recursive: true })),
  );

  const into = (name: string) => join(backups.folder, "restored", name);
  await backups.must("restore", "latest", "redis", "--into", into("redis"));
  await backups.must("restore", "latest", "redis-faucet", "--into", into("redis-faucet"));
  const restored = await backups.must(
    ...["restore", "latest", "postgres", "--into", into("pg/cluster"), "--until", untilT.toISOString()],
  );
  t.match(restored.err, /knows of 1 keys of merchants that were revoked/);
  await passwordOf(postgres.url, into("pg"));
  const [redisAgain, faucetAgain, postgresAgain] = await Promise.all([
    launch(t, into("redis")),
    launch(t, into("redis-faucet")),
    startArchivingPostgres(t, { folder: into("pg") }),
  ]);
  const dbAgain = await connectPostgres({ url: postgresAgain.url, name: "test", logger: silent });
  t.teardown(() => dbAgain.end());
  const after = await serve({ redis: redisAgain, redisFaucet: faucetAgain, postgres: postgresAgain.url });
  const ask = (key: string) => after.gateway.post(block, { key });

  await t.test("merchants' keys and sessions of before wait until somebody has confirmed them", async (t) => {
    const get = async (secret: string) =>
      (await after.api.get(dashboardPath, { "X-Svc-Dev-Key": secret })).status;
    const apiCommand = async (...args: string[]) => {
      const said: string[] = [];
      const [print, note] = [(text: string) => said.push(text), (text: string) => said.push(text)];
      const code = await runApi({ args, env: { POSTGRES_URL: postgresAgain.url }, print, note });
      return { code, said: said.join("\n") };
    };
    const active = async () => {
      const { rows } = await dbAgain.query(
        "select count(*)::int as n from svc.api_keys where revoked_at is null",
      );
      return rows[0]?.["n"];
    };
    t.same([await get(bought), await get(later.secret)], [503, 503]);
    t.equal((await after.api.get(sessionPath, bearer)).status, 401);
    const look = await apiCommand("confirm", "--check");
    t.match(look, {
      code: 1,
      said: /^1 keys would be revoked again, and 1 sessions would be ended\. 2 keys wait/,
    });
    t.equal(await active(), 2, "it changes nothing");
    t.match(await apiCommand("confirm"), { code: 0, said: /^1 keys were revoked again, and 1 sessions/ });
    await waitFor("PostgreSQL has read its settings", async () => (await get(bought)) === 200);
    t.equal(await get(later.secret), 401, "what was revoked behind the restored time stays so");
    t.equal((await after.api.get(sessionPath, bearer)).status, 401, "everybody signs in anew");
    t.match(await apiCommand("confirm"), { code: 0, said: "No restore waits to be confirmed." });
    const { rows } = await dbAgain.query("select about from svc.audit_log where actor = 'operator'");
    t.match(rows, [{ about: { why: "restore" } }]);
  });
  const bearerAgain = (await signIn(after.api)).bearer;

  await t.test(
    "PostgreSQL is as it was at the named time, and what was paid since comes from the chain",
    async (t) => {
      const { rows } = await dbAgain.query("select count(*)::int as n from svc.orders");
      t.same(rows, [{ n: 3 }], "the third was ordered after that time");
      t.equal((await after.api.get(dashboardPath, { "X-Svc-Dev-Key": bought })).status, 200);
      t.ok(third.id);
      const payments = await dbAgain.query(
        "select count(*)::int as n, count(distinct order_id)::int as orders from svc.payments",
      );
      t.same(payments.rows, [{ n: 3, orders: 3 }], "each payment is booked once");
      t.equal((await askKey(after.api, bearerAgain, first.id)).status, 409, "an order is honoured once");
      t.equal(
        (await askKey(after.api, bearerAgain, unclaimed.id)).status,
        409,
        "also one that was honoured after the backup",
      );
      t.equal((await askKey(after.api, bearerAgain, second.id)).status, 201, "what was paid is honoured");
    },
  );

  await t.test("no API key is good until somebody has confirmed them", async (t) => {
    for (const { secret } of [kept, revoked]) t.equal((await ask(secret)).status, 503);
    const keys = async (...args: string[]) => {
      const said: string[] = [];
      const [print, note] = [(text: string) => said.push(text), (text: string) => said.push(text)];
      const code = await runKeys({ args, env: { REDIS_URL: redisAgain }, print, note });
      return { code, said: said.join("\n") };
    };
    t.match(await keys("list"), { code: 0, said: /was restored from a backup/ });
    t.match(await keys("revoke", revoked.key.id), { code: 0 });
    t.match(await keys("confirm"), { code: 0 });
    await waitFor("the key is good", async () => (await ask(kept.secret)).status === 200);
    t.equal((await ask(revoked.secret)).status, 401);
  });

  await t.test("nobody is paid twice by a faucet whose Redis is of before", async (t) => {
    for (const address of [early, late]) {
      const answer = await waitFor("the faucet answers", async () => {
        const given = await after.faucet.claim({ address });
        return given.status !== 503 && given;
      });
      t.equal(answer.status, 429, answer.json.detail);
    }
    t.equal((await readPayments({ anvil, wallet: faucetAddress, firstBlock: 0 })).length, paidBefore);
  });
});

async function startAll(
  t: Test,
  {
    redis,
    redisFaucet,
    postgres,
    upstream,
    allowlist,
  }: {
    redis: string;
    redisFaucet: string;
    postgres: string;
    upstream: string;
    allowlist: { address: string }[];
  },
) {
  const gateway = await startGateway(t, {
    redisUrl: redis,
    upstreams: [upstream],
    // Keys of the configuration are made anew at each start, and are none that can be lost.
    change: (config) => ({ ...config, keys: [] }),
  });
  const [api, faucet] = await Promise.all([
    startApi(t, {
      ...{ redisUrl: redis, upstream, postgresUrl: postgres },
      change: (config) => ({ ...config, stalledAfterMs: 86_400_000 }),
    }),
    startFaucet(t, { redisUrl: redisFaucet, upstream, allowlist }),
  ]);
  await waitFor("payments are followed", async () => {
    const told = ledgerStatus.parse(await (await fetch(`${api.opsUrl}/status`)).json());
    return told.ledger.epoch !== undefined;
  });
  return { gateway, api, faucet };
}

/** A Redis on what was restored. */
async function launch(t: Test, folder: string): Promise<string> {
  const program = await findProgram({ names: ["redis-server", "valkey-server"], path: process.env["PATH"] });
  if (program === undefined) throw new Error("redis-server is not installed");
  const watch = await startParentWatch();
  const started = await launchRedis({
    program,
    env: process.env,
    folder,
    onLine: () => {},
    onChild: ({ pid }) => watch.remember(pid),
  });
  if ("failed" in started) throw new Error(started.failed);
  t.teardown(async () => {
    started.child.kill();
    await started.child.ended;
    await watch.stop();
  });
  return started.url;
}

/** The restored server has its users and their passwords; whoever starts it knows the password from the network's keys. */
async function passwordOf(url: string, folder: string): Promise<void> {
  await writeFile(join(folder, "password"), new URL(url).password, { mode: 0o600 });
}
