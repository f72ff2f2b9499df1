import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { connectPostgres, type PostgresConnection } from "./postgres-connection.ts";
import type { Queryable } from "./queryable.ts";
import { type Migration, readMigrations } from "./read-migrations.ts";
import { onlyRow, readBoolean, readInteger, readText } from "./row.ts";

/** Any number that nobody else takes for a lock in this database: "tollgate" in ASCII, cut to 63 bits. */
const lockKey = 0x746f6c6c67617465n;
const lockPollMs = 200;

type MigrationOptions = {
  url: string;
  /** Where `0001-….sql` and its followers stand. */
  folder: URL;
  logger: Pick<Logger, "info" | "warn">;
};

/**
 * Carries out the migrations of `folder` that the database has not had, in order, each in a transaction of its own. Of
 * several processes that start at once one does it and the others wait for it.
 *
 * A statement of a migration takes as long as it takes, but it waits for a lock at most `lockTimeoutMs`: behind a waiting
 * `alter table` every reader of that table would wait too.
 *
 * @returns the names of those that were carried out.
 * @throws MigrationError where one fails, one that was carried out has been altered, or the database knows more of them
 * than `folder`.
 */
export async function migrate({
  url,
  folder,
  logger,
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
    const due = dueOf({ migrations, done: await doneMigrations(connection) });
    for (const migration of due) await carryOut({ connection, migration, logger });
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
export async function dueMigrations({ url, folder, logger }: MigrationOptions): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const connection = await connectPostgres({ url, name: "migrations", logger, statementTimeoutMs: 5000 });
  try {
    const { rows } = await connection.query("select to_regclass('schema_migration') is not null as there");
    const done = readBoolean(onlyRow(rows), "there") ? await doneMigrations(connection) : [];
    return dueOf({ migrations, done }).map(({ name }) => name);
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

type DoneMigration = Pick<Migration, "number" | "name" | "sha256">;

async function doneMigrations(connection: Queryable): Promise<DoneMigration[]> {
  const { rows } = await connection.query(
    "select number, name, sha256 from schema_migration order by number",
  );
  return rows.map((row) => ({
    number: readInteger(row, "number"),
    name: readText(row, "name"),
    sha256: readText(row, "sha256"),
  }));
}

function dueOf({
  migrations,
  done,
}: {
  migrations: readonly Migration[];
  done: readonly DoneMigration[];
}): Migration[] {
  for (const { number, name, sha256 } of done) {
    const ours = migrations[number - 1];
    if (ours === undefined) {
      throw new MigrationError(
        `the database has migration ${name}, which this program does not know: it is older than the database`,
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
  migration: { number, name, sql, sha256 },
  logger,
}: {
  connection: PostgresConnection;
  migration: Migration;
  logger: Pick<Logger, "info">;
}): Promise<void> {
  const startMs = performance.now();
  try {
    await connection.query("begin");
    await connection.query(sql);
    await connection.query("insert into schema_migration (number, name, sha256) values ($1, $2, $3)", [
      number,
      name,
      sha256,
    ]);
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
