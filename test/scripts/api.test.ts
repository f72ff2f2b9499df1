import { pino } from "pino";
import t from "tap";
import { beginIndex } from "../../api/follower/index-row.ts";
import { connectPostgres } from "../../lib/postgres/postgres-connection.ts";
import { runApi } from "../../scripts/api/run-api.ts";
import { createDatabase } from "../helpers/postgres.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";

const logger = pino({ level: "silent" });

async function api(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runApi({
    args,
    env,
    print: (text) => out.push(text),
    note: (text) => err.push(text),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

async function query(url: string, text: string) {
  const connection = await connectPostgres({ url, name: "test", logger });
  const { rows } = await connection.query(text);
  await connection.end();
  return rows;
}

t.test("migrate --check tells what is due and changes nothing, migrate carries it out", async (t) => {
  const POSTGRES_URL = await createDatabase(t, { migrations: "none" });
  const env = { POSTGRES_URL };
  t.match(await api(["migrate", "--check"], env), { code: 1, out: /^Due: 0001-chain\b.*\.$/, err: "" });
  t.match(await api(["status"], env), { code: 0, out: /index +empty.*migrations due +0001-chain/s });
  t.same(await query(POSTGRES_URL, "select 1 from pg_tables where schemaname in ('public', 'chain')"), []);
  t.match(await api(["migrate"], env), { code: 0, out: /^Carried out: 0001-chain\b/, err: "" });
  t.match(await api(["migrate"], env), { code: 0, out: "Nothing was due." });
  t.match(await api(["migrate", "--check"], env), { code: 0, out: "Nothing is due." });
  t.same(JSON.parse((await api(["migrate", "--check", "--json"], env)).out), { due: [] });
});

t.test("status tells up to which block the index is there, and of which chain", async (t) => {
  const POSTGRES_URL = await createDatabase(t);
  const hash = `0x${"12".repeat(32)}`;
  const connection = await connectPostgres({ url: POSTGRES_URL, name: "test", logger });
  await beginIndex(connection, hash);
  await connection.query("update chain.follower set next = 1235, last_hash = genesis_hash");
  await connection.end();
  const told = await api(["status"], { POSTGRES_URL });
  t.match(told, { code: 0, out: /complete up to block 1,234\n.*genesis +0x1212.*due +none/s });
  t.match(JSON.parse((await api(["status", "--json"], { POSTGRES_URL })).out), {
    indexedBlock: 1234,
    epoch: 1,
    genesisHash: hash,
    due: [],
  });
});

t.test("a migration that was altered after it had been carried out is refused by its name", async (t) => {
  const POSTGRES_URL = await createDatabase(t);
  await query(POSTGRES_URL, "update schema_migration set sha256 = 'another' where number = 1");
  for (const args of [["migrate"], ["migrate", "--check"], ["status"]]) {
    t.match(await api(args, { POSTGRES_URL }), {
      code: 1,
      out: "",
      err: /^migration 0001-chain is not what was carried out as 0001-chain: restore the file/,
    });
  }
});

t.test("a PostgreSQL that is away, or does not let one in, is said without its password", async (t) => {
  const url = new URL(await createDatabase(t, { migrations: "none" }));
  const { host } = url;
  const away = await api(["migrate", "--postgres", "postgres://me:hidden@127.0.0.1:1/tollgate"]);
  t.match(away, {
    code: 1,
    out: "",
    err: /^PostgreSQL at postgres:\/\/127\.0\.0\.1:1\/tollgate cannot be used/,
  });
  t.match(away.err, /ECONNREFUSED.*--postgres URL/);
  t.notMatch(away.err, "hidden");
  url.password = "hidden";
  const refused = await api(["migrate"], { POSTGRES_URL: url.href });
  t.match(refused, { code: 1, err: new RegExp(`${host}.*password authentication failed`) });
  t.notMatch(refused.err, "hidden");
});

t.test("what is wrong with the command line or the configuration is said", async (t) => {
  t.match(await api([]), { code: 2, err: /migrate .*status /s });
  t.match(await api(["migrat"]), { code: 2, err: /Did you mean migrate\?/ });
  t.match(await api(["migrate", "--chek"]), { code: 2, err: /Did you mean --check\?/ });
  t.match(await api(["migrate", "--postgres", "redis://x"]), {
    code: 2,
    err: /--postgres: an address such as/,
  });
  const config = ["--config", `${testFolder(t, { "api.yaml": "prt: 1\n" })}/api.yaml`];
  t.match(await api(["migrate", ...config]), { code: 2, err: /api\.yaml:1: prt: this key is unknown/ });
  t.match(await api(["migrate", "--help"]), { code: 0, out: /exit code 1 where something is due/ });
});

t.test("the program itself ends with the exit code", async (t) => {
  const POSTGRES_URL = await createDatabase(t, { migrations: "none" });
  const { code, lines } = await runCommand(t, {
    program: "npm",
    args: ["run", "--silent", "api", "--", "migrate", "--check"],
    env: { ...process.env, POSTGRES_URL },
  });
  t.equal(code, 1);
  t.match(lines.join("\n"), /^Due: 0001-chain/m);
});

t.test("confirm has nothing to do where nothing was restored", async (t) => {
  const env = { POSTGRES_URL: await createDatabase(t) };
  t.match(await api(["confirm"], env), { code: 0, out: "No restore waits to be confirmed.", err: "" });
  t.same(JSON.parse((await api(["confirm", "--check", "--json"], env)).out), { restoredAt: null });
});

t.test("confirm says what it needs where the user may not read what the restore left", async (t) => {
  const url = new URL(await createDatabase(t));
  url.searchParams.set("options", "-c tollgate.restored_at=2027-01-01T00:00:00Z");
  const told = await api(["confirm"], { POSTGRES_URL: url.href });
  t.match(told, { code: 1, out: "", err: /cannot be confirmed: .*so the user has to be a superuser/ });
});
