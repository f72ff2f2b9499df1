import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pino } from "pino";
import { z } from "zod";
import { CommandError } from "../../../lib/cli/command.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { reasonOf } from "../../../lib/postgres/postgres-health.ts";
import { restoredRevocations, restoreMark } from "../../../lib/postgres/restore-mark.ts";
import type { BackupPart } from "../archive/manifest.ts";
import type { RevokedKey } from "../archive/revocations.ts";
import type { PostgresTools } from "./postgres-tools.ts";
import { runToEnd } from "./run-to-end.ts";
import { packFolder, unpackFolder } from "./tar.ts";

export type PostgresFacts = Extract<BackupPart, { name: "postgres" }>["facts"];

/** Makes a copy of the server's files of one moment in a folder that is not there yet. It has passed pg_verifybackup. */
export type BaseBackups = (folder: string) => Promise<void>;

/** Where a restored server finds the write-ahead log; it counts from the data folder, where PostgreSQL runs commands. */
const restoredLogs = "restored-wal";
const silent = pino({ level: "silent" });
const statementTimeoutMs = 600_000;

/** pg_basebackup and pg_verifybackup of this machine. */
export function localBaseBackups({ url, tools }: { url: string; tools: PostgresTools }): BaseBackups {
  return async (folder) => {
    const { hostname, port, username, password } = new URL(url);
    const env = {
      PATH: process.env["PATH"],
      PGPASSWORD: decodeURIComponent(password),
      PGHOST: hostname.replace(/^\[|\]$/g, ""),
      PGPORT: port || "5432",
      PGUSER: decodeURIComponent(username),
    };
    const taken = await runToEnd({
      program: tools.program("pg_basebackup"),
      // The log that the copy itself needs comes with it; the password only from the environment.
      args: [
        "--pgdata",
        folder,
        "--wal-method=stream",
        "--checkpoint=fast",
        "--no-password",
        "--manifest-checksums=SHA256",
      ],
      env,
    });
    if (taken.code !== 0) throw new CommandError(`pg_basebackup: ${taken.err}`, { exitCode: 1 });
    await verifyBaseBackup({ tools, folder });
  };
}

/** @throws CommandError where a file of a base backup is missing or another one. */
export async function verifyBaseBackup({
  tools,
  folder,
}: {
  tools: PostgresTools;
  folder: string;
}): Promise<void> {
  // Reads the log with pg_waldump, which it looks for beside itself.
  const verified = await runToEnd({
    program: tools.program("pg_verifybackup"),
    args: ["--quiet", folder],
    env: { PATH: process.env["PATH"] },
  });
  if (verified.code !== 0)
    throw new CommandError(`pg_verifybackup: ${verified.err || verified.out}`, { exitCode: 1 });
}

/** A base backup as a tar stream, with what PostgreSQL held just before. `folder` is removed by the caller. */
export async function packPostgres({
  url,
  folder,
  take,
  now,
}: {
  url: string;
  folder: string;
  take: BaseBackups;
  now: () => number;
}): Promise<{ source: Readable; facts: PostgresFacts }> {
  const before = await askFacts(url);
  await take(folder);
  const label = await readFile(join(folder, "backup_label"), "utf8");
  const [, firstSegment] = /^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$/m.exec(label) ?? [];
  if (firstSegment === undefined) throw new Error("backup_label does not say where the log begins");
  return {
    source: packFolder(folder),
    facts: { ...before, firstSegment, finishedAt: new Date(now()).toISOString() },
  };
}

/**
 * Unpacks a base backup and tells PostgreSQL where the log behind it is. At its first start the server replays it, up to `until` where
 * that is given, and then takes writes.
 *
 * @param writeLog writes the segments into a folder that PostgreSQL reads, and removes at the end.
 */
export async function unpackPostgres({
  plain,
  folder,
  until,
  writeLog,
  revoked,
  restoredAt,
}: {
  plain: Readable;
  folder: string;
  until: Date | undefined;
  writeLog: (folder: string) => Promise<void>;
  /** Keys of merchants that were revoked, before the restored time or after it. */
  revoked: readonly RevokedKey[];
  restoredAt: Date;
}): Promise<void> {
  await unpackFolder(plain, folder);
  const logs = join(folder, restoredLogs);
  await rm(logs, { recursive: true, force: true });
  await mkdir(logs, { mode: 0o700 });
  await writeLog(logs);
  await writeFile(join(folder, restoredRevocations), JSON.stringify({ keys: revoked }), {
    mode: 0o600,
    flush: true,
  });
  const settings = {
    [restoreMark]: restoredAt.toISOString(),
    restore_command: `cp "${restoredLogs}/%f" "%p"`,
    recovery_end_command: `rm -rf ${restoredLogs}`,
    recovery_target_action: "promote",
    recovery_target_timeline: "latest",
    // Not with Z: abbreviations of zones are not known yet when this is read.
    ...(until === undefined
      ? {}
      : { recovery_target_time: until.toISOString().replace("T", " ").replace("Z", "+00") }),
  };
  const file = join(folder, "postgresql.auto.conf");
  // Those of an earlier restore: PostgreSQL takes one target only.
  const kept = (await readFile(file, "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => !/^\s*(recovery_|restore_command|tollgate\.)/.test(line));
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  await writeFile(file, `${[...kept, ...lines].join("\n")}\n`, { mode: 0o600, flush: true });
  await writeFile(join(folder, "recovery.signal"), "", { mode: 0o600, flush: true });
}

/** What a server says of itself and of merchants' records. @throws CommandError where it does not answer. */
export async function askFacts(url: string): Promise<Omit<PostgresFacts, "firstSegment" | "finishedAt">> {
  const connection = await connectPostgres({
    url,
    name: "tollgate-backup",
    logger: silent,
    statementTimeoutMs,
  }).catch((error: unknown) => {
    const { protocol, host, pathname } = new URL(url);
    throw new CommandError(
      `PostgreSQL at ${protocol}//${host}${pathname} cannot be used (${reasonOf(error)}).`,
      {
        exitCode: 1,
      },
    );
  });
  try {
    const { rows } = await connection.query(
      `select current_setting('server_version') as "serverVersion",
         (select system_identifier from pg_control_system())::text as "systemIdentifier",
         to_regclass('svc.payments') is not null as "hasRecords", to_regclass('schema_migration') is not null as "isMigrated"`,
    );
    const { hasRecords, isMigrated, ...server } = serverSchema.parse(rows[0]);
    const schema = isMigrated
      ? (
          await connection.query(
            `select coalesce((array_agg(name order by number desc))[1], '') as migration, count(*)::int as migrations from schema_migration`,
          )
        ).rows[0]
      : { migration: "", migrations: 0 };
    const records = hasRecords
      ? (
          await connection.query(
            `select count(*)::int as payments, coalesce(sum(amount), 0)::text as "paidWei",
             (select count(*)::int from svc.orders) as orders from svc.payments`,
          )
        ).rows[0]
      : { payments: 0, paidWei: "0", orders: 0 };
    return { ...server, ...schemaSchema.parse(schema), ...recordsSchema.parse(records) };
  } finally {
    await connection.end();
  }
}

const serverSchema = z.object({
  serverVersion: z.string(),
  systemIdentifier: z.string(),
  hasRecords: z.boolean(),
  isMigrated: z.boolean(),
});
const schemaSchema = z.object({ migration: z.string(), migrations: z.coerce.number() });
const recordsSchema = z.object({
  payments: z.coerce.number(),
  paidWei: z.string(),
  orders: z.coerce.number(),
});

/** Such as 18, of `18.4 (Debian 18.4-1)`. */
export function majorVersion(serverVersion: string): number {
  return Number.parseInt(serverVersion, 10);
}
