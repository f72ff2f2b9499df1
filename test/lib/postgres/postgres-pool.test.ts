import t from "tap";
import { isPostgresFailure } from "../../../lib/postgres/postgres-failure.ts";
import { checkPostgres } from "../../../lib/postgres/postgres-health.ts";
import { onlyRow, readInteger, readText } from "../../../lib/postgres/row.ts";
import { startTcpProxy } from "../../fakes/tcp-proxy.ts";
import { createDatabase, startPostgres } from "../../helpers/postgres.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { createPool } from "./support/pool.ts";

const ownPid = "select pg_backend_pid() as pid";

t.test(
  "a connection that the server ends does not end the process, whether it is in use or not",
  async (t) => {
    const url = await createDatabase(t, { migrations: "none" });
    const { pool, lines } = createPool(t, { url });
    const { pool: other } = createPool(t, { url });
    const terminate = (pid: number) => other.query("select pg_terminate_backend($1)", [pid]);

    const idle = readInteger(onlyRow((await pool.query(ownPid)).rows), "pid");
    await terminate(idle);
    await waitFor("the pool has let go of it", () => pool.totalCount === 0);
    t.ok(
      lines.some((line) => line.includes("PostgreSQL connection lost")),
      "it is logged",
    );

    const taken = await pool.connect();
    const takenPid = readInteger(onlyRow((await taken.query(ownPid)).rows), "pid");
    await terminate(takenPid);
    await waitFor("its queries fail", () =>
      taken.query("select 1").then(
        () => false,
        (error) => isPostgresFailure(error),
      ),
    );
    taken.release(true);

    const sleeping = pool.query("select pg_sleep(60)").catch((error: unknown) => error);
    const sleeperPid = await waitFor("the statement runs", async () => {
      const { rows } = await other.query(
        "select pid from pg_stat_activity where application_name = 'test' and query = 'select pg_sleep(60)'",
      );
      return rows[0] === undefined ? 0 : readInteger(rows[0], "pid");
    });
    await terminate(sleeperPid);
    t.ok(isPostgresFailure(await sleeping));

    await pool.query("select 1");
  },
);

t.test("a statement that takes too long is ended, and its connection goes on", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { pool } = createPool(t, { url, statementTimeoutMs: 200, connectionsMax: 1 });
  const before = onlyRow((await pool.query(ownPid)).rows);
  const error = await t.rejects(pool.query("select pg_sleep(60)"), {
    message: "canceling statement due to statement timeout",
  });
  t.ok(isPostgresFailure(error));
  // pool.query gives a failed statement's connection up; one that was taken out stays.
  const taken = await pool.connect();
  await t.rejects(taken.query("select pg_sleep(60)"), { code: "57014" });
  t.notSame(onlyRow((await taken.query(ownPid)).rows), before);
  taken.release(true);
});

t.test("a lock that another transaction holds is waited for so long and no longer", async (t) => {
  const url = await createDatabase(t);
  const { pool } = createPool(t, { url, lockTimeoutMs: 200 });
  const holder = await pool.connect();
  await holder.query("begin");
  await holder.query("lock table chain.follower");
  const error = await t.rejects(pool.query("select * from chain.follower"), {
    message: "canceling statement due to lock timeout",
  });
  t.ok(isPostgresFailure(error));
  await holder.query("rollback");
  holder.release();
  await pool.query("select * from chain.follower");
});

t.test("a transaction that asks nothing is ended, since it holds locks", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { pool } = createPool(t, { url, idleInTransactionTimeoutMs: 100 });
  const idle = await pool.connect();
  await idle.query("begin");
  await waitFor(
    "its queries fail",
    () =>
      idle.query("select 1").then(
        () => false,
        (error) => isPostgresFailure(error),
      ),
    { everyMs: 300 },
  );
  idle.release(true);
});

t.test("a server that says nothing is left in time, and found again", async (t) => {
  const url = new URL(await createDatabase(t, { migrations: "none" }));
  const serverPort = Number(url.port);
  let silent = false;
  const proxy = await startTcpProxy({
    port: () => serverPort,
    answer: (client, data) => void (silent || client.write(data)),
  });
  t.teardown(() => proxy.stop());
  url.port = String(proxy.port);
  const { pool } = createPool(t, {
    url: url.href,
    connectionsMax: 2,
    statementTimeoutMs: 100,
    connectTimeoutMs: 500,
  });
  await pool.query("select 1");
  silent = true;
  const startMs = performance.now();
  const errors = await Promise.all(
    [1, 2, 3].map(() => pool.query("select 1").catch((error: unknown) => error)),
  );
  t.ok(errors.every(isPostgresFailure), errors.join("\n"));
  t.ok(performance.now() - startMs < 5000);
  t.match(await checkPostgres({ pool, timeoutMs: 100 }), { up: false });
  silent = false;
  await waitFor("it answers again", async () => (await checkPostgres({ pool })).up);
});

t.test("a PostgreSQL that was killed comes back with what was committed", async (t) => {
  const server = await startPostgres(t, { fsync: "on" });
  const { pool, lines } = createPool(t, { url: server.url });
  await pool.query("create table kept (n int)");
  await pool.query("insert into kept values (1)");
  t.match(await checkPostgres({ pool }), { up: true });
  await server.kill();
  const error = await t.rejects(pool.query("select 1"));
  t.ok(isPostgresFailure(error));
  const health = await checkPostgres({ pool });
  t.match(health, { up: false, reason: /./ });
  await server.restart();
  await waitFor("it answers", async () => (await checkPostgres({ pool })).up);
  t.strictSame((await pool.query("select n from kept")).rows, [{ n: 1 }]);
  t.equal(lines.filter((line) => line.includes("PostgreSQL connection ready")).length, 1);
});

t.test(
  "what holds for each connection holds whatever the URL says, and the rest of the URL too",
  async (t) => {
    const url = new URL(await createDatabase(t));
    url.searchParams.set("options", "-c plan_cache_mode=auto -c work_mem=1234kB");
    url.searchParams.set("statement_timeout", "0");
    const { pool } = createPool(t, { url: url.href, statementTimeoutMs: 4321 });
    const setting = async (name: string) =>
      readText(onlyRow((await pool.query("select current_setting($1) as value", [name])).rows), "value");
    t.equal(await setting("plan_cache_mode"), "force_custom_plan");
    t.equal(await setting("statement_timeout"), "4321ms");
    t.equal(await setting("timezone"), "UTC");
    t.equal(await setting("work_mem"), "1234kB");
  },
);

t.test("a pool that is full makes others wait for the connect timeout", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { pool } = createPool(t, { url, connectionsMax: 1, connectTimeoutMs: 200 });
  const taken = await pool.connect();
  const error = await t.rejects(pool.query("select 1"));
  t.ok(isPostgresFailure(error));
  taken.release(true);
  await pool.query("select 1");
});

t.test("a fault of our own is no failure of PostgreSQL", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { pool } = createPool(t, { url });
  t.notOk(isPostgresFailure(await t.rejects(pool.query("select nothing_there"))));
  t.notOk(isPostgresFailure(new TypeError("x is not a function")));
  t.notOk(isPostgresFailure("text"));
});

t.test("a name that nobody has and a port on which nobody listens are failures", async (t) => {
  for (const url of ["postgres://a:b@127.0.0.1:1/c", "postgres://a:b@nobody.invalid/c"]) {
    const { pool } = createPool(t, { url });
    t.ok(isPostgresFailure(await t.rejects(pool.query("select 1"))), url);
    t.match(await checkPostgres({ pool, timeoutMs: 5000 }), {
      up: false,
      reason: /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/,
    });
  }
});
