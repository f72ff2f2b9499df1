import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { z } from "zod";
import { migrate } from "../../lib/postgres/migrate.ts";
import { connectPostgres, type PostgresConnection } from "../../lib/postgres/postgres-connection.ts";
import { readMigrations } from "../../lib/postgres/read-migrations.ts";
import { type OwnPostgres, startOwnPostgres } from "../../scripts/processes/own-postgres.ts";
import { processIdentity } from "../../scripts/processes/process-identity.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { waitFor } from "./wait-for.ts";

const logger = pino({ level: "silent" });
const clusterWithinMs = 120_000;

/** The schema of the API, which is in a database of a test unless it asks for another. */
export const apiMigrations = new URL("../../api/postgres/migrations/", import.meta.url);

/**
 * A database of its own in the PostgreSQL that all test files of a run share, gone when the test ends. It has been
 * migrated with `migrations`; "none" leaves it empty.
 *
 * @returns its URL. What belongs to the whole server (stopping it, its settings) needs `startPostgres` instead.
 */
export async function createDatabase(
  t: Teardown,
  { migrations = apiMigrations }: { migrations?: URL | "none" } = {},
): Promise<string> {
  const cluster = await sharedCluster();
  const name = `test_${randomBytes(6).toString("hex")}`;
  const admin = await connectPostgres({ url: cluster, name: "test helper", logger });
  try {
    const template =
      migrations === "none" ? "template0" : await ensureTemplate({ admin, cluster, migrations });
    await admin.query(`create database ${name} template ${template}`);
  } finally {
    await admin.end();
  }
  t.teardown(async () => {
    const admin = await connectPostgres({ url: cluster, name: "test helper", logger });
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return withDatabase({ url: cluster, name });
}

/** The first that asks migrates a database; the others copy it, which takes some 50 ms. */
async function ensureTemplate({
  admin,
  cluster,
  migrations,
}: {
  admin: PostgresConnection;
  cluster: string;
  migrations: URL;
}): Promise<string> {
  const hash = createHash("sha256");
  for (const { sha256 } of await readMigrations(migrations)) hash.update(sha256);
  const name = `template_${hash.digest("hex").slice(0, 16)}`;
  await admin.query("select pg_advisory_lock(1)");
  const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
  if (rowCount === 0) {
    await admin.query(`create database ${name}_new template template0`);
    await migrate({ url: withDatabase({ url: cluster, name: `${name}_new` }), folder: migrations, logger });
    await admin.query(`alter database ${name}_new rename to ${name}`);
  }
  await admin.query("select pg_advisory_unlock(1)");
  return name;
}

function withDatabase({ url, name }: { url: string; name: string }): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

const clusterFile = z.union([z.object({ url: z.string() }), z.object({ failed: z.string() })]);
let shared: Promise<string> | undefined;

/** The first test file that asks starts it; it ends with tap, or with this process where tap does not run it. */
function sharedCluster(): Promise<string> {
  shared ??= findCluster();
  return shared;
}

async function findCluster(): Promise<string> {
  const runner = process.env["TAP_CHILD_ID"] === undefined ? process.pid : process.ppid;
  const folder = join(tmpdir(), `tollgate-postgres-${runner}-${await shortIdentity(runner)}`);
  const isFirst = await mkdir(folder, { mode: 0o700 }).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const program = fileURLToPath(new URL("postgres-cluster.ts", import.meta.url));
    // Coverage and the like, which tap asks for by NODE_OPTIONS, are none of its business.
    const { NODE_OPTIONS: _unused, ...env } = process.env;
    const options = { detached: true, stdio: "ignore", env } as const;
    spawn(process.execPath, [program, folder, String(runner)], options).unref();
  }
  const file = join(folder, "cluster.json");
  const text = await waitFor("PostgreSQL is up", () => readFile(file, "utf8").catch(() => ""), {
    withinMs: clusterWithinMs,
    everyMs: 50,
  });
  const cluster = clusterFile.parse(JSON.parse(text));
  if ("failed" in cluster) throw new Error(cluster.failed);
  return cluster.url;
}

async function shortIdentity(pid: number): Promise<string> {
  return createHash("sha256")
    .update((await processIdentity(pid)) ?? "")
    .digest("hex")
    .slice(0, 8);
}

export type PostgresUnderTest = OwnPostgres;

/** A real PostgreSQL of its own on a free loopback port, gone when the test ends. For tests that do something to it. */
export async function startPostgres(
  t: Teardown,
  options: { fsync?: "on" | "off" } = {},
): Promise<PostgresUnderTest> {
  return await startOwnPostgres(t, options);
}
