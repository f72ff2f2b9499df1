import { pino } from "pino";
import t from "tap";
import { migrate } from "../../../../lib/postgres/migrate.ts";
import { startAnvil } from "../../../helpers/anvil.ts";
import { apiMigrations, startPostgres } from "../../../helpers/postgres.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { wordsOfLibraries } from "../../support/problem.ts";
import { bob } from "../../support/start-world.ts";
import { sign, startPayerRpc } from "./support/start-payer-rpc.ts";

const [redis, anvil, postgres] = await Promise.all([startRedis(t), startAnvil(t), startPostgres(t)]);
await migrate({ url: postgres.url, folder: apiMigrations, logger: pino({ level: "silent" }) });
const rig = await startPayerRpc(t, {
  given: { redisUrl: redis.url, upstream: anvil.url, postgresUrl: postgres.url, anvil },
  change: (config) => ({
    ...config,
    redisCommandTimeoutMs: 300,
    payerRpc: { ...config.payerRpc, callsPerMinute: 100 },
  }),
});
const { call } = rig;

t.test("with Redis away each process counts a tenth, and payments go on", async (t) => {
  const { transfer } = await rig.invoice();
  const raw = await sign(await rig.payer(), transfer);
  await redis.stop();
  await waitFor("it is counted here alone", async () =>
    (await call("eth_chainId")).headers.get("ratelimit-policy")?.includes("q=10"),
  );
  t.match((await call("eth_sendRawTransaction", [raw])).result, /^0x/);
  const answers = await Promise.all(Array.from({ length: 20 }, () => call("eth_chainId")));
  t.ok(answers.filter(({ status }) => status === 429).length >= 10);
  await redis.restart();
  await waitFor("it is counted there again", async () =>
    (await call("eth_chainId")).headers.get("ratelimit-policy")?.includes("q=100"),
  );
});

t.test("a database that hangs is waited for over connections of its own, so lists go on", async (t) => {
  const { transfer } = await rig.invoice();
  const value = `0x${transfer.value.toString(16)}`;
  const estimate = () => call("eth_estimateGas", [{ from: bob, to: transfer.to, value }]);
  await rig.db.query("begin");
  await rig.db.query("lock table svc.invoices in access exclusive mode");
  let answered = 0;
  const waiting = Array.from({ length: 30 }, async () => {
    const answer = await estimate();
    answered += 1;
    return answer;
  });
  await waitFor("it is waited for", async () => {
    const sql =
      "select count(*)::int as held from pg_locks where not granted and relation = 'svc.invoices'::regclass";
    return Number((await rig.db.query(sql)).rows[0]?.["held"]) >= 2;
  });
  for (const path of ["/api/v1/blocks", "/api/v1/transactions"])
    t.equal((await rig.api.get(path)).status, 200);
  t.equal(answered, 0, "and nobody waited for them to end");
  await rig.db.query("rollback");
  const answers = await Promise.all(waiting);
  t.ok(answers.every(({ status, result }) => result === "0x5208" || status === 503));
  t.equal((await estimate()).result, "0x5208");
});

t.test("with PostgreSQL away nothing is sent, since nobody can say what is a payment", async (t) => {
  const { transfer } = await rig.invoice();
  const wallet = await rig.payer();
  const raw = await sign(wallet, transfer);
  await postgres.stop();
  const answer = await call("eth_sendRawTransaction", [raw]);
  t.match([answer.status, answer.error], [503, { code: -32002, message: /cannot be asked at the moment/ }]);
  t.notMatch(answer.text, wordsOfLibraries);
  t.equal(await anvil.rpc("eth_getTransactionCount", [wallet.address, "pending"]), "0x0");
  t.match(
    (await call("eth_getBalance", [bob, "latest"])).result,
    /^0x/,
    "what is not about a payment goes on",
  );
  await postgres.restart();
  await waitFor("it is sent", async () => (await call("eth_sendRawTransaction", [raw])).result !== undefined);
});
