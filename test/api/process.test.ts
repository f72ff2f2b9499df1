import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { connectPostgres } from "../../lib/postgres/postgres-connection.ts";
import { productVersion } from "../../lib/version.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { productionFees } from "../helpers/fee-environment.ts";
import { runNodeProcess, whenUp } from "../helpers/node-process.ts";
import { createDatabase } from "../helpers/postgres.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { startServices } from "./support/start-world.ts";

const runApiProcess = (t: Test, args: readonly string[], env?: Readonly<Record<string, string>>) =>
  runNodeProcess(t, "api/main.ts", { args, ...(env === undefined ? {} : { env }) });

async function query(url: string, text: string): Promise<void> {
  const connection = await connectPostgres({ url, name: "test", logger: pino({ level: "silent" }) });
  await connection.query(text);
  await connection.end();
}

const { anvil, redisUrl, upstream, postgresUrl } = await startServices(t);
const environment = {
  API_PORT: "0",
  API_OPS_PORT: "0",
  REDIS_URL: redisUrl,
  API_UPSTREAM: upstream,
  POSTGRES_URL: postgresUrl,
};
const production = {
  ...environment,
  ...productionFees,
  TOLLGATE_PROFILE: "production",
  API_ORIGINS: "https://explorer.example,https://www.example",
};

t.test("--check tells what is in order, and what cannot be used, with exit code 2", async (t) => {
  const checked = (args: readonly string[], env?: Readonly<Record<string, string>>) =>
    runApiProcess(t, ["--check", ...args], env).ended;
  const [shipped, withoutOrigins, withoutFile] = await Promise.all([
    checked([]),
    checked(["--profile", "production"]),
    checked([], { POSTGRES_PASSWORD_FILE: "/none/password" }),
  ]);
  t.match(shipped, {
    code: 0,
    output: "config/api.yaml is in order: development profile, port 4000, ops port 5000, 0 contract(s)",
  });
  t.match(withoutOrigins, { code: 2, output: /api\.yaml:\d+: origins: the two origins .* were expected/ });
  t.match(withoutFile, {
    code: 2,
    output: /postgres\.passwordFile: \/none\/password cannot be read \(ENOENT\)/,
  });
});

t.test("it takes its password from a file, keeps it and its key to itself, and ends in order", async (t) => {
  const url = new URL(postgresUrl);
  const password = decodeURIComponent(url.password);
  const passwordFile = join(
    testFolder(t, { password: `${password}\n`, key: "tg_dev_of_a_file\n" }),
    "password",
  );
  url.password = "";
  const api = runApiProcess(t, ["--profile", "development"], {
    ...environment,
    POSTGRES_URL: url.href,
    POSTGRES_PASSWORD_FILE: passwordFile,
    API_UPSTREAM_KEY_FILE: passwordFile.replace(/password$/, "key"),
  });
  const { port } = await whenUp("api", api);
  await waitFor("it is well", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/health`);
    return (await response.text()).includes('"status":"ok","checks"');
  });
  api.kill("SIGTERM");
  const { code, output } = await api.ended;
  t.equal(code, 0);
  t.match(output, /"msg":"stopped"/);
  t.notMatch(output, "tg_dev_of_a_file");
  t.notMatch(output, password);
});

t.test("a schema whose migration was altered ends it with the migration's name", async (t) => {
  const url = await createDatabase(t);
  await query(url, "update schema_migration set sha256 = 'another' where number = 1");
  const { code, output } = await runApiProcess(t, [], { ...environment, POSTGRES_URL: url }).ended;
  t.equal(code, 1);
  t.match(output, /migration 0001-chain is not what was carried out as 0001-chain: restore the file/);
});

/** A database that a version to come has brought further by a migration. */
async function newerSchema(t: Test, lets: string): Promise<string> {
  const url = await createDatabase(t);
  await query(
    url,
    `alter table chain.follower add column of_the_next text;
     insert into schema_migration (number, name, sha256, version, lets)
     values (9999, '9999-v99.0.0-of-the-next', 'unknown', '99.0.0', '${lets}')`,
  );
  return url;
}

t.test("a schema of a newer version that does not let this one ends it, in words", async (t) => {
  const url = await newerSchema(t, "98.0.0");
  const { code, output } = await runApiProcess(t, [], { ...environment, POSTGRES_URL: url }).ended;
  t.equal(code, 1);
  t.match(
    output,
    /9999-v99\.0\.0-of-the-next of version 99\.0\.0.*it lets no version before 98\.0\.0 go on: start the newer version \(docker\/RUNBOOK\.md/,
  );
  t.notMatch(output, '"api is up"');
});

t.test("a schema of a newer version that lets this one is served from, with a warning", async (t) => {
  const url = await newerSchema(t, productVersion);
  const api = runApiProcess(t, [], { ...environment, POSTGRES_URL: url });
  const { port } = await whenUp("api", api);
  t.match(api.output(), /"schema":"99\.0\.0".*the schema is of a newer version, which lets this one go on/);
  await waitFor("its index follows the chain", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/blocks?limit=1`);
    return (await response.text()).includes('"number":');
  });
  api.kill("SIGTERM");
  t.equal((await api.ended).code, 0);
});

t.test("it waits for a PostgreSQL that is away, says so, and ends at SIGTERM all the same", async (t) => {
  const opsPort = await reservePort();
  const away = "postgres://tollgate:hidden@127.0.0.1:1/tollgate";
  const api = runApiProcess(t, [], { ...environment, API_OPS_PORT: `${opsPort}`, POSTGRES_URL: away });
  await waitFor("it says so", () => api.output().includes("waiting for PostgreSQL"));
  await waitFor("it tells that this alone is away", async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    return ['"postgres"} 1', '"chain"} 0', '"redis"} 0'].every((told) =>
      metrics.includes(`tollgate_api_dependency_away{dependency=${told}`),
    );
  });
  t.equal((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status, 503);
  api.kill("SIGTERM");
  const { code, output } = await api.ended;
  t.equal(code, 0);
  t.notMatch(output, "hidden");
});

t.test("in production another chain is refused, until one start with --adopt-chain", async (t) => {
  const url = await createDatabase(t);
  const other = "decode(repeat('ab', 32), 'hex')";
  await query(
    url,
    `insert into chain.follower (epoch, genesis_hash, next, last_hash) values (1, ${other}, 7, ${other})`,
  );
  const env = { ...production, POSTGRES_URL: url };
  const refusing = runApiProcess(t, [], env);
  const { port, opsPort } = await whenUp("api", refusing);
  const ready = () => fetch(`http://127.0.0.1:${opsPort}/readyz`).then((response) => response.text());
  t.match(
    await waitFor("it says why", async () => {
      const text = await ready();
      return text.includes("genesis") && text;
    }),
    /"degraded": true[\s\S]*the chain's genesis block is 0x[0-9a-f]{64}, that of the index 0xabab/,
  );
  t.match(await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text(), /^api_index_refused 1$/m);
  const block = await fetch(`http://127.0.0.1:${port}/api/v1/blocks/0`);
  t.equal(block.status, 200, "single records go on");
  refusing.kill("SIGTERM");
  t.equal((await refusing.ended).code, 0);

  await anvil.rpc("evm_mine");
  const adopting = runApiProcess(t, ["--adopt-chain"], env);
  const { port: next } = await whenUp("api", adopting);
  await waitFor("the index begins anew", async () => {
    const response = await fetch(`http://127.0.0.1:${next}/api/v1/blocks?limit=1`);
    return (await response.text()).includes('"number":1');
  });
  t.match(adopting.output(), /the index was emptied for another chain/);
});
