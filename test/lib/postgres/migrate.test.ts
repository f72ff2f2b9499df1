import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import t from "tap";
import { dueMigrations, MigrationError, migrate, schemaVersion } from "../../../lib/postgres/migrate.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { readMigrations } from "../../../lib/postgres/read-migrations.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { apiMigrations, createDatabase } from "../../helpers/postgres.ts";
import { runCommand } from "../../helpers/run-command.ts";

const logger = pino({ level: "silent" });

async function migrationsFolder(t: Teardown, files: Readonly<Record<string, string>>) {
  const path = await mkdtemp(join(tmpdir(), "tollgate-migrations-"));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  const put = (name: string, sql: string) => writeFile(join(path, name), sql);
  for (const [name, sql] of Object.entries(files)) await put(name, sql);
  return { path, folder: pathToFileURL(path), put };
}

async function query(t: Teardown, { url, text }: { url: string; text: string }) {
  const connection = await connectPostgres({ url, name: "test", logger });
  t.teardown(() => connection.end());
  return (await connection.query(text)).rows;
}

t.test("the schema of the API comes whole, once, and nothing is due after it", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const names = (await readMigrations(apiMigrations)).map(({ name }) => name);
  t.strictSame(await dueMigrations({ url, folder: apiMigrations, logger }), names);
  t.strictSame(await migrate({ url, folder: apiMigrations, logger }), names);
  t.strictSame(await migrate({ url, folder: apiMigrations, logger }), []);
  t.strictSame(await dueMigrations({ url, folder: apiMigrations, logger }), []);
  const tables = await query(t, {
    url,
    text: "select tablename from pg_tables where schemaname = 'chain' order by tablename",
  });
  t.strictSame(
    tables.map(({ tablename }) => tablename),
    ["block", "burn", "burn_total", "follower", "seal", "token", "transfer", "tx"],
  );
});

t.test("asking what is due changes nothing", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  await dueMigrations({ url, folder: apiMigrations, logger });
  t.strictSame(await query(t, { url, text: "select 1 from pg_tables where schemaname = 'public'" }), []);
});

t.test("processes that migrate at once carry each migration out once", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { path } = await migrationsFolder(t, {
    "0001-slow.sql": "create table one (n int); select pg_sleep(0.5); insert into one values (1);",
    "0002-more.sql": "insert into one values (2);",
  });
  const program = join(import.meta.dirname, "support", "migrate-once.ts");
  const outcomes = await Promise.all(
    [1, 2, 3].map(() =>
      runCommand(t, { program: process.execPath, args: [program, url, `${pathToFileURL(path)}`] }),
    ),
  );
  t.strictSame(
    outcomes.map(({ code }) => code),
    [0, 0, 0],
    outcomes.flatMap(({ lines }) => lines).join("\n"),
  );
  const done = outcomes.map(({ lines }) => lines.at(-1)).toSorted();
  t.strictSame(done, ['["0001-slow","0002-more"]', "[]", "[]"]);
  t.strictSame(await query(t, { url, text: "select n from one order by n" }), [{ n: 1 }, { n: 2 }]);
});

t.test("others' migrations are waited for so long and no longer", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { folder } = await migrationsFolder(t, { "0001-a.sql": "select 1" });
  const holder = await connectPostgres({ url, name: "test", logger });
  t.teardown(() => holder.end());
  await holder.query("select pg_advisory_lock($1)", [0x746f6c6c67617465n]);
  await t.rejects(migrate({ url, folder, logger, othersTimeoutMs: 300 }), {
    message: /another process has been migrating for 300 ms/,
  });
  await holder.end();
  t.strictSame(await migrate({ url, folder, logger }), ["0001-a"]);
});

t.test("a migration that was carried out must stay as it was", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { folder, put } = await migrationsFolder(t, { "0001-a.sql": "create table a ();\n" });
  await migrate({ url, folder, logger });
  await put("0001-a.sql", "create table a ();\r\n");
  t.strictSame(await migrate({ url, folder, logger }), [], "other line ends change nothing");
  await put("0001-a.sql", "create table a (n int);\n");
  await put("0002-b.sql", "create table b ();\n");
  const refusal = { name: "MigrationError", message: /migration 0001-a is not what was carried out/ };
  await t.rejects(migrate({ url, folder, logger }), refusal);
  await t.rejects(dueMigrations({ url, folder, logger }), refusal);
  t.strictSame(await query(t, { url, text: "select 1 from pg_tables where tablename = 'b'" }), []);
});

t.test("a program that is older than the database refuses it", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { path, folder, put } = await migrationsFolder(t, { "0001-a.sql": "select 1" });
  await put("0002-b.sql", "select 2");
  await migrate({ url, folder, logger });
  await rm(join(path, "0002-b.sql"));
  await t.rejects(migrate({ url, folder, logger }), {
    message: /has migration 0002-b of version 0.1.0, which this program/,
  });
});

/** A database that version 0.3.0 has brought further than the folder that is left goes. */
async function newerDatabase(t: Teardown, lets: string) {
  const url = await createDatabase(t, { migrations: "none" });
  const { path, folder, put } = await migrationsFolder(t, { "0001-a.sql": "create table a (n int);" });
  await migrate({ url, folder, logger, version: "0.1.0" });
  await put("0002-v0.3.0-b.sql", `-- lets: ${lets}\nalter table a add column m int;`);
  await migrate({ url, folder, logger, version: "0.3.0" });
  await rm(join(path, "0002-v0.3.0-b.sql"));
  return { url, folder };
}

t.test("a version that a newer schema lets goes on beside it, and says so", async (t) => {
  const { url, folder } = await newerDatabase(t, "0.2.0");
  const said: unknown[] = [];
  const told = { ...logger, info: () => {}, warn: (fields: unknown) => said.push(fields) };
  t.strictSame(await migrate({ url, folder, logger: told, version: "0.2.0" }), []);
  t.match(said, [{ schema: "0.3.0", migration: "0002-v0.3.0-b", version: "0.2.0" }]);
  t.strictSame(await dueMigrations({ url, folder, logger, version: "0.2.5" }), []);
  t.strictSame(await schemaVersion({ url, logger }), { version: "0.3.0", migration: "0002-v0.3.0-b" });
  const rows = await query(t, {
    url,
    text: "select version, lets, carried_out_by from schema_migration order by number",
  });
  t.strictSame(rows, [
    { version: "0.1.0", lets: null, carried_out_by: "0.1.0" },
    { version: "0.3.0", lets: "0.2.0", carried_out_by: "0.3.0" },
  ]);
});

t.test("a version that a newer schema does not let is refused, and told which one to start", async (t) => {
  const { url, folder } = await newerDatabase(t, "0.2.0");
  const refusal = {
    name: "MigrationError",
    message:
      /0002-v0\.3\.0-b of version 0\.3\.0.*This is 0\.1\.9, and it lets no version before 0\.2\.0.*RUNBOOK/s,
  };
  await t.rejects(migrate({ url, folder, logger, version: "0.1.9" }), refusal);
  await t.rejects(dueMigrations({ url, folder, logger, version: "0.1.9" }), refusal);
});

t.test("a table of migrations from before versions is taken over", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { folder, put } = await migrationsFolder(t, { "0001-a.sql": "create table a ();" });
  const [first] = await readMigrations(folder);
  const connection = await connectPostgres({ url, name: "test", logger });
  t.teardown(() => connection.end());
  await connection.query(
    "create table schema_migration (number int primary key, name text not null, sha256 text not null, carried_out_at timestamptz not null default now())",
  );
  await connection.query("insert into schema_migration (number, name, sha256) values (1, '0001-a', $1)", [
    first?.sha256,
  ]);
  t.strictSame(await schemaVersion({ url, logger }), { version: "0.1.0", migration: "0001-a" });
  await put("0002-v0.2.0-b.sql", "-- lets: 0.1.0\ncreate table b ();");
  t.strictSame(await migrate({ url, folder, logger }), ["0002-v0.2.0-b"]);
  t.strictSame(await schemaVersion({ url, logger }), { version: "0.2.0", migration: "0002-v0.2.0-b" });
});

t.test("a migration with a version says whom it lets, and none is older than the one before", async (t) => {
  for (const [sql, why] of [
    ["select 1", "nothing"],
    ["-- lets: 0.3.0\nselect 1", "a version after its own"],
    ["select 1;\n-- lets: 0.1.0", "not in the first line"],
  ] as const) {
    const { folder } = await migrationsFolder(t, { "0001-v0.2.0-a.sql": sql });
    await t.rejects(
      readMigrations(folder),
      { message: /the first line of 0001-v0\.2\.0-a\.sql says the oldest version/ },
      why,
    );
  }
  const back = await migrationsFolder(t, {
    "0001-v0.2.0-a.sql": "-- lets: 0.1.0\n",
    "0002-v0.1.0-b.sql": "-- lets: 0.1.0\n",
  });
  await t.rejects(readMigrations(back.folder), { message: /0002-v0\.1\.0-b is of an older version/ });
});

/** What a process of the version before does not survive: it still reads, writes and inserts as it always has. */
const breaking =
  /\bdrop\s+(table|column|view|schema)\b|\brename\s+(to|column)\b|\balter\s+column\s+\S+\s+(type|set\s+not\s+null)\b|\bset\s+data\s+type\b|\badd\s+column\s+(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b/i;

t.test("a migration that lets older versions only adds", async (t) => {
  for (const { name, sql, version, lets } of await readMigrations(apiMigrations)) {
    if (lets !== undefined && lets !== version) t.notMatch(sql, breaking, name);
  }
  for (const sql of [
    "alter table a drop column b",
    "drop table a",
    "alter table a rename to b",
    "alter table a alter column b set not null",
    "alter table a add column b int not null",
    "alter table a alter column b type bigint",
  ])
    t.match(sql, breaking);
  for (const sql of [
    "create table a (b int not null)",
    "alter table a add column b int",
    "alter table a add column b int not null default 0",
    "create index i on a (b)",
  ])
    t.notMatch(sql, breaking);
});

t.test("a migration of the API after the first fourteen has its version in its name", async (t) => {
  for (const { name, number, lets } of await readMigrations(apiMigrations)) {
    if (number > 14) t.ok(lets !== undefined, `${name} is named like 0015-v0.2.0-what-it-does.sql`);
  }
  t.end();
});

t.test("of a migration that fails nothing is kept, and those before it are", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { folder, put } = await migrationsFolder(t, {
    "0001-a.sql": "create table a ();",
    "0002-b.sql": "create table b (); select 1 / 0;",
  });
  const failed = await t.rejects(migrate({ url, folder, logger }), MigrationError);
  t.match(failed, { message: "migration 0002-b failed: division by zero" });
  t.strictSame(
    await query(t, { url, text: "select tablename from pg_tables where tablename in ('a', 'b')" }),
    [{ tablename: "a" }],
  );
  await put("0002-b.sql", "create table b ();");
  t.strictSame(await migrate({ url, folder, logger }), ["0002-b"]);
});

t.test("a migration gives up where somebody holds the table that it changes", async (t) => {
  const url = await createDatabase(t, { migrations: "none" });
  const { folder, put } = await migrationsFolder(t, { "0001-a.sql": "create table a ();" });
  await migrate({ url, folder, logger });
  const reader = await connectPostgres({ url, name: "test", logger });
  t.teardown(() => reader.end());
  await reader.query("begin");
  await reader.query("select from a");
  await put("0002-b.sql", "alter table a add column n int;");
  await t.rejects(migrate({ url, folder, logger, lockTimeoutMs: 200 }), {
    message: "migration 0002-b failed: canceling statement due to lock timeout",
  });
  await reader.query("commit");
  t.strictSame(await migrate({ url, folder, logger }), ["0002-b"]);
});

t.test("numbers have no gaps and names say what they do", async (t) => {
  const gap = await migrationsFolder(t, { "0001-a.sql": "", "0003-c.sql": "" });
  await t.rejects(readMigrations(gap.folder), { message: /0003-c stands where number 2 was expected/ });
  const twice = await migrationsFolder(t, { "0001-a.sql": "", "0001-b.sql": "" });
  await t.rejects(readMigrations(twice.folder), { message: /0001-b stands where number 2 was expected/ });
  const unnamed = await migrationsFolder(t, { "1.sql": "" });
  await t.rejects(readMigrations(unnamed.folder), {
    message: /is named 0015-v0.2.0-what-it-does.sql, not 1.sql/,
  });
});

t.test("a shipped migration of the API is never altered", async (t) => {
  const shipped = await readFile(join(import.meta.dirname, "support", "shipped-migrations.json"), "utf8");
  const ours = (await readMigrations(apiMigrations)).map(({ name, sha256 }) => ({ name, sha256 }));
  t.strictSame(ours, JSON.parse(shipped));
});

t.test("a folder is read with and without a slash at its end", async (t) => {
  const { path } = await migrationsFolder(t, {});
  await cp(apiMigrations, path, { recursive: true });
  t.strictSame(await readMigrations(pathToFileURL(path)), await readMigrations(pathToFileURL(`${path}/`)));
});
