import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { compareVersions, productVersion } from "../version.ts";
import { connectPostgres, type PostgresConnection } from "./postgres-connection.ts";
import type { Queryable } from "./queryable.ts";
import { firstVersion, type Migration, readMigrations } from "./read-migrations.ts";
import { onlyRow, readBoolean, readInteger, readNullable, readText } from "./row.ts";

/** Any number that nobody else takes for a lock in this database: "tollgate" in ASCII, cut to 63 bits. */
const lockKey = 0x746f6c6c67617465n;
const lockPollMs = 200;

type MigrationOptions = {
  url: string;
  /** Where `0001-….sql` and its followers stand. */
  folder: URL;
  logger: Pick<Logger, "info" | "warn">;
  /** The version of the running code. */
  version?: string;
};

/** The version that a schema is of, and which migration was the last. */
export type SchemaVersion = { version: string; migration: string };

/**
 * Carries out the migrations of `folder` that the database has not had, in order, each in a transaction of its own. Of
 * several processes that start at once one does it and the others wait for it.
 *
 * A statement of a migration takes as long as it takes, but it waits for a lock at most `lockTimeoutMs`: behind a waiting
 * `alter table` every reader of that table would wait too.
 *
 * A schema that a newer version has brought further is left as it is and worked with, where its migrations let this version.
 *
 * @returns the names of those that were carried out.
 * @throws MigrationError where one fails, one that was carried out has been altered, or the database has one of a newer version that
 * does not let this one.
 */
export async function migrate({
  url,
  folder,
  logger,
  version = productVersion,
  lockTimeoutMs = 5000,
  othersTimeoutMs = 600_000,
}: MigrationOptions & {
  lockTimeoutMs?: number;
  /** How long the migrations of another process are waited for. */
  othersTimeoutMs?: number;
}): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const connection = await connectPostgres({ url, name: "migrations", logger, lockTimeoutMs });
  try {
    await takeLock({ connection, logger, othersTimeoutMs });
    await connection.query(`create table if not exists schema_migration (
      number int primary key, name text not null, sha256 text not null, carried_out_at timestamptz not null default now()
    )`);
    await addVersions(connection);
    const done = await doneMigrations(connection);
    const due = dueOf({ migrations, done, version });
    const newer = newerOf({ migrations, done });
    if (newer !== undefined) {
      logger.warn(
        { schema: newer.version, migration: newer.name, version },
        "the schema is of a newer version, which lets this one go on",
      );
    }
    for (const migration of due) await carryOut({ connection, migration, logger, version });
    return due.map(({ name }) => name);
  } finally {
    // Ends the lock with the session.
    await connection.end();
  }
}

/**
 * The names of the migrations that `migrate` would carry out. Changes nothing.
 *
 * @throws MigrationError where `migrate` would refuse to begin.
 */
export async function dueMigrations({
  url,
  folder,
  logger,
  version = productVersion,
}: MigrationOptions): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const done = await lookAtDone({ url, logger });
  return dueOf({ migrations, done, version }).map(({ name }) => name);
}

/** The version of a database's schema; undefined before its first migration. Changes nothing. */
export async function schemaVersion(
  options: Pick<MigrationOptions, "url" | "logger">,
): Promise<SchemaVersion | undefined> {
  const last = (await lookAtDone(options)).at(-1);
  return last === undefined ? undefined : { version: last.version, migration: last.name };
}

async function lookAtDone({
  url,
  logger,
}: Pick<MigrationOptions, "url" | "logger">): Promise<DoneMigration[]> {
  const connection = await connectPostgres({ url, name: "migrations", logger, statementTimeoutMs: 5000 });
  try {
    const { rows } = await connection.query("select to_regclass('schema_migration') is not null as there");
    return readBoolean(onlyRow(rows), "there") ? await doneMigrations(connection) : [];
  } finally {
    await connection.end();
  }
}

/** Asked for again and again, not waited for: so others' migrations may take long, and the wait can be told and ended. */
async function takeLock({
  connection,
  logger,
  othersTimeoutMs,
}: {
  connection: PostgresConnection;
  logger: Pick<Logger, "info">;
  othersTimeoutMs: number;
}): Promise<void> {
  const giveUpAtMs = performance.now() + othersTimeoutMs;
  for (let first = true; ; first = false) {
    const { rows } = await connection.query("select pg_try_advisory_lock($1) as taken", [lockKey]);
    if (readBoolean(onlyRow(rows), "taken")) return;
    if (performance.now() > giveUpAtMs) {
      throw new MigrationError(`another process has been migrating for ${othersTimeoutMs} ms`);
    }
    if (first) logger.info("waiting for the migrations of another process");
    await sleep(lockPollMs);
  }
}

type DoneMigration = Pick<Migration, "number" | "name" | "sha256" | "version" | "lets">;

/** Databases of the first version have a table without these. Looked at first: each `alter table` waits for every reader. */
async function addVersions(connection: Queryable): Promise<void> {
  const { rows } = await connection.query(
    "select count(*) = 3 as there from pg_attribute where attrelid = 'schema_migration'::regclass and attname in ('version', 'lets', 'carried_out_by')",
  );
  if (readBoolean(onlyRow(rows), "there")) return;
  await connection.query(
    "alter table schema_migration add column if not exists version text, add column if not exists lets text, add column if not exists carried_out_by text",
  );
}

async function doneMigrations(connection: Queryable): Promise<DoneMigration[]> {
  // A process of the first version writes rows without a version, and has a table without the columns.
  const { rows } = await connection.query(
    `select number, name, sha256, coalesce(to_jsonb(m) ->> 'version', $1) as version, to_jsonb(m) ->> 'lets' as lets
     from schema_migration m order by number`,
    [firstVersion],
  );
  return rows.map((row) => ({
    number: readInteger(row, "number"),
    name: readText(row, "name"),
    sha256: readText(row, "sha256"),
    version: readText(row, "version"),
    lets: readNullable(readText, row, "lets") ?? undefined,
  }));
}

/** The last migration that the database has and `migrations` have not. */
function newerOf({
  migrations,
  done,
}: {
  migrations: readonly Migration[];
  done: readonly DoneMigration[];
}): DoneMigration | undefined {
  return done.findLast(({ number }) => number > migrations.length);
}

function dueOf({
  migrations,
  done,
  version,
}: {
  migrations: readonly Migration[];
  done: readonly DoneMigration[];
  version: string;
}): Migration[] {
  for (const { number, name, sha256, version: its, lets } of done) {
    const ours = migrations[number - 1];
    if (ours === undefined) {
      if (lets !== undefined && compareVersions(version, lets) >= 0) continue;
      throw new MigrationError(
        `the database has migration ${name} of version ${its}, which this program does not know: it is older than the database. ` +
          `This is ${version}, and ${lets === undefined ? "it says of no other version that it may go on" : `it lets no version before ${lets} go on`}: ` +
          `start the newer version (docker/RUNBOOK.md, chapter "Upgrade one by one")`,
      );
    }
    if (ours.sha256 !== sha256 || ours.name !== name) {
      throw new MigrationError(
        `migration ${ours.name} is not what was carried out as ${name}: restore the file, and put the change into a new one`,
      );
    }
  }
  const doneNumbers = new Set(done.map(({ number }) => number));
  return migrations.filter(({ number }) => !doneNumbers.has(number));
}

async function carryOut({
  connection,
  migration: { number, name, sql, sha256, version: its, lets },
  logger,
  version,
}: {
  connection: PostgresConnection;
  migration: Migration;
  logger: Pick<Logger, "info">;
  version: string;
}): Promise<void> {
  const startMs = performance.now();
  try {
    await connection.query("begin");
    await connection.query(sql);
    await connection.query(
      "insert into schema_migration (number, name, sha256, version, lets, carried_out_by) values ($1, $2, $3, $4, $5, $6)",
      [number, name, sha256, its, lets, version],
    );
    await connection.query("commit");
  } catch (cause) {
    // The connection ends after this, and the transaction with it.
    throw new MigrationError(`migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  logger.info({ migration: name, tookMs: Math.round(performance.now() - startMs) }, "migrated");
}

/** The schema cannot be brought to what this program needs. Nothing of the migration that is named was kept. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}
