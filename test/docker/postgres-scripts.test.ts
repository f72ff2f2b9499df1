import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { connectPostgres } from "../../lib/postgres/postgres-connection.ts";
import { aliceWallet, sessionPath, signIn } from "../api/merchant/support/sign-in.ts";
import { buyKey, dashboardPath } from "../api/merchant/support/start-shop.ts";
import { startApi } from "../api/support/start-api.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { deployOn } from "../helpers/fee-collector.ts";
import { startPostgres } from "../helpers/postgres.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

/* docker/postgres/*.sh beside an image's entry: what the runbook's chapter PostgreSQL runs. */

const folder = join(import.meta.dirname, "../../docker/postgres");
const withoutPsql = spawnSync("psql", ["--version"]).error !== undefined && "psql is not installed";

t.test("merchants' records outlive the index", { skip: withoutPsql }, async (t) => {
  const [redis, anvil, postgres] = await Promise.all([startRedis(t), startAnvil(t), startPostgres(t)]);
  await deployOn(anvil.url);
  const sh = (script: string, { url }: { url: string }) => {
    const { port, password } = new URL(url);
    const passwordFile = join(testFolder(t, { password }), "password");
    const env = { ...process.env, PGPORT: port, POSTGRES_PASSWORD_FILE: passwordFile };
    return execFileSync("sh", [join(folder, `${script}.sh`)], { env, encoding: "utf8" });
  };
  const startOn = async (postgresUrl: string) => {
    const api = await startApi(t, {
      ...{ redisUrl: redis.url, upstream: anvil.url, postgresUrl },
      change: (config) => ({ ...config, stalledAfterMs: 86_400_000 }),
    });
    const status = z.object({ ledger: z.object({ epoch: z.number().optional() }) });
    await waitFor("payments are followed", async () => {
      const told = status.parse(await (await fetch(`${api.opsUrl}/status`)).json());
      return told.ledger.epoch !== undefined;
    });
    await waitFor("the index is built", async () =>
      /"indexedBlock":\d/.test((await api.get("/api/v1/blocks?limit=1")).text),
    );
    return api;
  };
  const rowsOf = async (table: string) => {
    const db = await connectPostgres({ url: postgres.url, name: "test", logger: { info() {}, warn() {} } });
    const { rows } = await db.query(`select from ${table}`);
    await db.end();
    return rows.length;
  };

  const api = await startOn(postgres.url);
  const db = await connectPostgres({ url: postgres.url, name: "test", logger: { info() {}, warn() {} } });
  const { bearer } = await signIn(api);
  const { secret } = await buyKey({ api, db }, bearer);
  await db.end();
  await api.stop();

  await t.test("an index that is emptied is built again", async (t) => {
    t.ok((await rowsOf("chain.block")) > 0);
    sh("empty-index", postgres);
    t.equal(await rowsOf("chain.block"), 0);
    const again = await startOn(postgres.url);
    t.equal((await again.get(dashboardPath, { "X-Svc-Dev-Key": secret })).status, 200);
    t.equal((await again.get(sessionPath, bearer)).status, 200);
    await again.stop();
  });

  await t.test("all sessions end at once, and keys stay", async (t) => {
    sh("end-sessions", postgres);
    const restored = await startOn(postgres.url);
    t.equal((await restored.get(sessionPath, bearer)).status, 401);
    t.equal((await restored.get(dashboardPath, { "X-Svc-Dev-Key": secret })).status, 200);
    const headers = (await signIn(restored)).bearer;
    const summary = await restored.get(`/api/v1/svc-dev/summary/${aliceWallet.address}`, headers);
    t.match(summary.json, { keys: [{ state: "active" }], orders: [{ status: "used" }] });
  });
});
