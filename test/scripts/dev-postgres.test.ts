import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { createDatabase } from "../helpers/postgres.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { createPool } from "../lib/postgres/support/pool.ts";
import { startDev, startedDev, stillRunning } from "./dev-rig.ts";

t.setTimeout(120_000);

const urlFileOf = (folder: string) => join(folder, ".data/postgres/url");

async function inPostgres(t: Test, { folder, text }: { folder: string; text: string }) {
  const url = (await readFile(urlFileOf(folder), "utf8")).trim();
  const { pool } = createPool(t, { url });
  return (await pool.query(text)).rows;
}

t.test("PostgreSQL is started, shown, resumed and reset with the rest", async (t) => {
  const folder = testFolder(t);
  const first = await startedDev(t, { folder, postgres: "own" });
  const children = await first.children();
  t.match(Object.keys(children).sort(), [
    "api",
    "chain",
    "faucet",
    "gateway",
    "initdb",
    "postgres",
    "redis",
    "redis-faucet",
  ]);
  const table = first.printed().slice(first.printed().indexOf("Tollgate is up"));
  t.match(table, /^ {2}postgres +postgres:\/\/127\.0\.0\.1:\d+ +\.data\/postgres$/m);
  t.same(
    table.split("\n").filter((line) => line.length > 80),
    [],
    "80 columns are enough",
  );
  t.equal((await stat(urlFileOf(folder))).mode & 0o777, 0o600, "others do not read the password");
  const settings =
    "select current_setting('listen_addresses') as host, current_setting('unix_socket_directories') as sockets";
  t.strictSame(await inPostgres(t, { folder, text: settings }), [{ host: "127.0.0.1", sockets: "" }]);
  await inPostgres(t, { folder, text: "create table trace as select 1 as n" });
  first.signal("SIGINT");
  t.same(await first.ended, { code: 0, signal: null });
  t.same(await stillRunning(children), [], "a client that is still there does not keep it");
  t.notMatch(first.printed(), "postgres |", "it says nothing of a start and an end in order");
  await t.rejects(stat(urlFileOf(folder)), { code: "ENOENT" });

  const second = await startedDev(t, { folder, postgres: "own" });
  t.strictSame(await inPostgres(t, { folder, text: "select n from trace" }), [{ n: 1 }]);
  const running = await second.children();
  second.signal("SIGKILL");
  await second.ended;
  t.same(await stillRunning(running), [], "no child outlives npm start");

  const third = await startedDev(t, { folder, postgres: "own" });
  t.strictSame(await inPostgres(t, { folder, text: "select n from trace" }), [{ n: 1 }]);
  third.signal("SIGTERM");
  await third.ended;

  await startedDev(t, { folder, postgres: "own", args: ["--reset"] });
  await t.rejects(inPostgres(t, { folder, text: "select n from trace" }), { code: "42P01" });
});

t.test(
  "PostgreSQL that cannot start ends everything, with its last lines and what else there is",
  async (t) => {
    const folder = testFolder(t, {
      ".data": { postgres: { password: "x", cluster: { PG_VERSION: "9.6\n" } } },
    });
    const dev = await startDev(t, { folder, postgres: "own" });
    t.same(await dev.ended, { code: 1, signal: null });
    t.match(
      dev.printed(),
      /npm start: PostgreSQL did not start: postgres ended \(exit code 2\)\nIts last lines:\n/,
    );
    t.match(dev.printed(), /npm start -- --reset[\s\S]+POSTGRES_URL=/);
  },
);

t.test("POSTGRES_URL: that database is used, said, and left as it is", async (t) => {
  const given = await createDatabase(t, { migrations: "none" });
  const { host, pathname, password } = new URL(given);
  const { pool } = createPool(t, { url: given });
  await pool.query("create table trace ()");
  const dev = await startedDev(t, { folder: testFolder(t), env: { POSTGRES_URL: given }, args: ["--reset"] });
  t.match(dev.printed(), "--reset leaves the database of POSTGRES_URL as it is.");
  t.match(
    dev.printed(),
    `POSTGRES_URL is set: postgres://${host}${pathname} is used, and no PostgreSQL is started.`,
  );
  t.notMatch(dev.printed(), password, "its password is not printed");
  t.notMatch(Object.keys(await dev.children()), ["postgres"]);
  await pool.query("select from trace");
});

t.test("POSTGRES_URL that cannot be used ends it", async (t) => {
  const refusals = [
    [
      "postgres://a:secret@127.0.0.1:1/b",
      "POSTGRES_URL names postgres://127.0.0.1:1/b, which cannot be used: connect ECONNREFUSED",
    ],
    ["127.0.0.1:5432", "POSTGRES_URL: postgres://user:password@host:5432/database was expected"],
  ] as const;
  for (const [POSTGRES_URL, text] of refusals) {
    const dev = await startDev(t, { folder: testFolder(t), env: { POSTGRES_URL } });
    t.same(await dev.ended, { code: 1, signal: null });
    t.match(dev.printed(), text);
    t.notMatch(dev.printed(), "secret");
  }
});
