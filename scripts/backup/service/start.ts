import { access, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { type OpsServer, startOpsServer } from "../../../lib/ops-server.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { findBackup, listBackups, pruneBackups } from "../archive/backup-folder.ts";
import { keyFileNames, readWriterKeys, type WriterKeys } from "../archive/key-files.ts";
import type { BackupManifest } from "../archive/manifest.ts";
import { takeBackup } from "../archive/take-backup.ts";
import { shipWal } from "../archive/wal-archive.ts";
import type { BackupConfig } from "../config.ts";
import { packageVersion } from "../package-version.ts";
import { createRevocationShipper } from "../parts/revoked-keys.ts";
import { configuredSources, openSources } from "../sources.ts";
import { createBackupMetrics } from "./metrics.ts";

const hourMs = 3_600_000;
/** A backup that failed is tried again after so long. */
const retryMs = 600_000;

/**
 * Takes a backup whenever the newest is older than `everyHours`, encrypts PostgreSQL's log as it comes, and removes what is older than
 * `keep` backups. What fails is said, counted and tried again; it never ends by itself.
 *
 * @throws Error where the keys cannot be used, or one that reads backups lies beside them in production.
 */
export async function start(
  config: BackupConfig,
  { logger, now, path }: { logger: Logger; now: () => number; path: string | undefined },
): Promise<{ opsPort: number; stop: () => Promise<void> }> {
  const keys = await readWriterKeys(config.keys);
  await refuseIdentity(config, logger);
  await mkdir(config.to, { recursive: true, mode: 0o700 });
  if (config.walSpool !== "") await mkdir(config.walSpool, { recursive: true, mode: 0o700 });
  const metrics = createBackupMetrics();
  metrics.every.set((config.everyHours * hourMs) / 1000);
  let newest = await newestOf(config);
  let failed: string | undefined;
  let notBeforeMs = 0;
  const tell = () => {
    metrics.lastSuccess.set(newest === undefined ? 0 : Date.parse(newest.takenAt) / 1000);
    metrics.bytes.set(newest?.parts.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0);
  };
  tell();

  const isDue = () =>
    now() >= notBeforeMs &&
    (newest === undefined || now() - Date.parse(newest.takenAt) >= config.everyHours * hourMs);

  async function takeWhenDue(): Promise<void> {
    if (!isDue()) return;
    const beganMs = now();
    try {
      const sources = openSources({ config, only: undefined, now, path });
      const note = (text: string) => logger.info(text);
      newest = await takeBackup({ to: config.to, keys, version: packageVersion(), now, note, ...sources });
      failed = undefined;
      metrics.duration.set((now() - beganMs) / 1000);
      tell();
      const removed = await pruneBackups({ root: config.to, keep: config.keep });
      logger.info({ id: newest.id, removed }, "a backup was taken");
    } catch (error) {
      failed = error instanceof Error ? error.message : String(error);
      metrics.failures.inc();
      notBeforeMs = now() + retryMs;
      logger.error({ error: failed }, "no backup could be taken");
    }
  }

  const backups = everySoOften(takeWhenDue, 1000);
  const log =
    config.walSpool === ""
      ? undefined
      : everySoOften(() => followLog({ config, keys, metrics, logger, now }), config.walEveryMs);
  const shipRevocations = createRevocationShipper({ url: config.postgres, to: config.to, keys });
  let revocationsFailed: string | undefined;
  async function followRevocations(): Promise<void> {
    try {
      const added = await shipRevocations();
      if (added > 0) logger.info({ added }, "revoked keys of merchants were added");
      revocationsFailed = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Once: it is tried every few seconds.
      if (revocationsFailed === undefined)
        logger.error({ error: why }, "it is not known which keys of merchants were revoked");
      revocationsFailed = `revoked keys of merchants: ${why}`;
    }
  }
  const revocations = config.postgres === "" ? undefined : everySoOften(followRevocations, config.walEveryMs);
  const ops: OpsServer = await startOpsServer({
    ...config.ops,
    registry: metrics.registry,
    // A failed backup is an alert and no reason to restart anything.
    readiness: () => {
      const reasons = [failed, revocationsFailed].filter((reason) => reason !== undefined);
      return { ready: true, degraded: reasons.length > 0, reasons };
    },
    status: () => ({ process: "backup", newest: newest ?? null, failed: failed ?? null, to: config.to }),
  });
  return {
    opsPort: ops.port,
    async stop() {
      await Promise.all([backups.stop(), log?.stop(), revocations?.stop()]);
      await ops.stop();
    },
  };
}

/** Encrypts what waits, and looks whether PostgreSQL hands its log over at all. */
async function followLog({
  config,
  keys,
  metrics,
  logger,
  now,
}: {
  config: BackupConfig;
  keys: WriterKeys;
  metrics: ReturnType<typeof createBackupMetrics>;
  logger: Logger;
  now: () => number;
}): Promise<void> {
  try {
    const shipped = await shipWal({ spool: config.walSpool, to: config.to, keys });
    metrics.walShipped.inc(shipped.length);
  } catch (error) {
    metrics.walFailures.inc();
    logger.error(
      { error: error instanceof Error ? error.message : String(error) },
      "PostgreSQL's log is not archived",
    );
  }
  metrics.walWaitingSeconds.set((await oldestWaitingMs(config.walSpool, now)) / 1000);
  metrics.walArchiving.set((await handsOver(config.postgres)) ? 1 : 0);
}

async function oldestWaitingMs(spool: string, now: () => number): Promise<number> {
  const names = (await readdir(spool).catch(() => [])).filter((name) => !name.startsWith("."));
  const times = await Promise.all(
    names.map((name) =>
      stat(join(spool, name)).then(
        (found) => found.mtimeMs,
        () => now(),
      ),
    ),
  );
  return times.length === 0 ? 0 : Math.max(0, now() - Math.min(...times));
}

const archiverSchema = z.object({ mode: z.string(), fails: z.boolean() });

async function handsOver(url: string): Promise<boolean> {
  if (url === "") return true;
  const logger = { info() {}, warn() {} };
  try {
    const connection = await connectPostgres({
      url,
      name: "tollgate-backup",
      logger,
      statementTimeoutMs: 5000,
    });
    try {
      const { rows } = await connection.query(
        `select current_setting('archive_mode') as mode,
           coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as fails from pg_stat_archiver`,
      );
      const { mode, fails } = archiverSchema.parse(rows[0]);
      return mode !== "off" && !fails;
    } finally {
      await connection.end();
    }
  } catch {
    return false;
  }
}

/** Whoever breaks into this machine must not be able to read every backup that was ever taken. */
async function refuseIdentity({ keys, profile }: BackupConfig, logger: Logger): Promise<void> {
  const file = join(keys, keyFileNames.identity);
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const words = `${file} reads every backup, and whoever takes them does not need it: put it and ${keyFileNames.verify} away from this machine`;
  if (profile === "production") throw new Error(words);
  logger.warn(words);
}

/** A backup that was removed, cannot be read, or has a part only of what is backed up here, is as good as none. */
async function newestOf(config: BackupConfig): Promise<BackupManifest | undefined> {
  const [root, wanted] = [config.to, configuredSources(config)];
  for (const word of (await listBackups(root)).toReversed()) {
    const found = await findBackup({ word, root, verifyKey: undefined }).catch(() => undefined);
    const held = new Set<string>(found?.manifest.parts.map(({ name }) => name));
    if (found !== undefined && wanted.every((name) => held.has(name))) return found.manifest;
  }
  return undefined;
}

/** One run after the other, `ms` apart; the first at once. */
function everySoOften(run: () => Promise<void>, ms: number) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running = Promise.resolve();
  const next = () => {
    running = run().finally(() => {
      if (!isStopped) timer = setTimeout(next, ms);
    });
  };
  next();
  return {
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
