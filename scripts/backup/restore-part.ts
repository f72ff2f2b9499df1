import { join } from "node:path";
import type { Readable } from "node:stream";
import type { FoundBackup } from "./archive/backup-folder.ts";
import { fillEmptyFolder } from "./archive/empty-folder.ts";
import type { ReaderKeys } from "./archive/key-files.ts";
import type { BackupPart } from "./archive/manifest.ts";
import { readRevocations } from "./archive/revocations.ts";
import { readSealed } from "./archive/sealed-file.ts";
import { readWal } from "./archive/wal-archive.ts";
import { unpackPostgres } from "./parts/postgres.ts";
import { unpackRedis } from "./parts/redis.ts";
import { unpackFolder } from "./parts/tar.ts";

/** Up to when PostgreSQL's log is replayed: all of it, nothing behind the backup, or up to a time. */
export type Until = "latest" | "backup" | Date;

/** Which file of a restored folder is moved there last: without it no program takes the folder for its own. */
const lastOf = {
  keys: "network.json",
  redis: "appendonlydir",
  "redis-faucet": "appendonlydir",
  postgres: "PG_VERSION",
  validator: "DATABASE_METADATA.json",
} as const;

/**
 * Restores a part into an empty folder, all of it or nothing.
 * @returns the time of the last segment of PostgreSQL's log that was added, and of how many revoked keys of merchants the archive knows.
 */
export async function restorePart({
  backup,
  part,
  folder,
  until,
  keys,
  now,
}: {
  backup: FoundBackup;
  part: BackupPart;
  folder: string;
  until: Until;
  keys: ReaderKeys;
  now: () => number;
}): Promise<{ logUntil: string | undefined; revokedKeys: number }> {
  let logUntil: string | undefined;
  let revokedKeys = 0;
  const unpack = async (plain: Readable, staged: string): Promise<void> => {
    if (part.name === "postgres") {
      const { systemIdentifier } = part.facts;
      const revoked = await readRevocations({ to: backup.root, systemIdentifier, verifyKey: keys.verifyKey });
      revokedKeys = revoked.length;
      await unpackPostgres({
        plain,
        folder: staged,
        until: until instanceof Date ? until : undefined,
        writeLog,
        revoked,
        restoredAt: new Date(now()),
      });
    } else if (part.name === "redis" || part.name === "redis-faucet") {
      await unpackRedis({ plain, folder: staged, lostAtMs: part.name === "redis" ? now() : undefined });
    } else await unpackFolder(plain, staged);
  };
  async function writeLog(logs: string): Promise<void> {
    if (part.name !== "postgres" || until === "backup") return;
    const { systemIdentifier, firstSegment } = part.facts;
    const asked = until === "latest" ? undefined : until;
    const read = await readWal({
      from: backup.root,
      systemIdentifier,
      firstSegment,
      until: asked,
      keys,
      folder: logs,
    });
    logUntil = read.lastAt;
  }
  await fillEmptyFolder({
    folder,
    last: lastOf[part.name],
    fill: (staged) =>
      readSealed({
        file: join(backup.folder, part.file),
        known: part,
        identities: keys.identities,
        sink: (plain) => unpack(plain, staged),
      }),
  });
  return { logUntil, revokedKeys };
}
