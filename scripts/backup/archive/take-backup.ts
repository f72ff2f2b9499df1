import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { CommandError } from "../../../lib/cli/command.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { syncFolder } from "../../../lib/sync-folder.ts";
import type { WriterKeys } from "./key-files.ts";
import { type BackupManifest, type BackupPart, backupId, manifestFile, type PartName } from "./manifest.ts";
import { type Sealed, writeSealed, writeSigned } from "./sealed-file.ts";

/** What begins with a dot is no backup, or not one yet. */
const partialPrefix = ".taking-";
const dayMs = 86_400_000;

/** Says how a part is taken: what it holds as a stream, and what is known of it. */
export type PackedPart = {
  source: Readable;
  /** The part's name, kind and facts, for what was written. */
  describe: (file: string, sealed: Sealed) => BackupPart;
  extension: "rdb" | "tar";
};

const takeAsItIs: NonNullable<PartSource["around"]> = (take) => take();

export type PartSource = {
  name: PartName;
  pack: (scratch: string) => Promise<PackedPart>;
  /** Does what has to be done before it is packed, and afterwards, also where that has failed. */
  around?: (take: () => Promise<BackupPart>) => Promise<BackupPart>;
};

/**
 * Takes a backup into a new folder of `to`, which gets its name when all of it is on the disk. Where a part fails, nothing is left and
 * all that was there stays.
 */
export async function takeBackup({
  to,
  keys,
  parts,
  version,
  chain,
  now,
  note,
}: {
  to: string;
  keys: WriterKeys;
  /** In their order; `scratch` is a folder on the same disk that is removed afterwards. */
  parts: readonly PartSource[];
  version: string;
  chain: () => BackupManifest["chain"];
  now: () => number;
  note: (text: string) => void;
}): Promise<BackupManifest> {
  const takenAtMs = now();
  await mkdir(to, { recursive: true, mode: 0o700 });
  const id = await freeId(to, takenAtMs);
  await removeLeftOvers(to, takenAtMs);
  const partial = join(to, `${partialPrefix}${id}`);
  try {
    await mkdir(partial, { mode: 0o700 }).catch((error: unknown) => {
      throw new CommandError(
        `${to} cannot be written (${errorCode(error)}), or another backup was begun this second.`,
        { exitCode: 1 },
      );
    });
    const taken: BackupPart[] = [];
    for (const { name, pack, around = takeAsItIs } of parts) {
      taken.push(await around(() => takeOne(name, pack)));
    }
    async function takeOne(name: PartName, pack: PartSource["pack"]): Promise<BackupPart> {
      const beganMs = now();
      const scratch = join(partial, "scratch");
      await mkdir(scratch, { mode: 0o700 });
      const packed = await pack(scratch);
      const file = `${name}.${packed.extension}.zst.age`;
      const sealed = await writeSealed({
        source: packed.source,
        file: join(partial, file),
        recipients: keys.recipients,
      });
      await rm(scratch, { recursive: true });
      note(
        `${name}: ${size(sealed.plainBytes)}, ${size(sealed.bytes)} encrypted, ${((now() - beganMs) / 1000).toFixed(1)} s`,
      );
      return packed.describe(file, sealed);
    }
    const known = chain();
    const manifest: BackupManifest = {
      format: "tollgate-backup",
      formatVersion: 1,
      id,
      takenAt: new Date(takenAtMs).toISOString(),
      finishedAt: new Date(now()).toISOString(),
      version,
      ...(known === undefined ? {} : { chain: known }),
      parts: taken,
    };
    await writeSigned({ file: join(partial, manifestFile), value: manifest, signingKey: keys.signingKey });
    await syncFolder(partial);
    await rename(partial, join(to, id));
    await syncFolder(to);
    return manifest;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Of two within a second the later one gets the next second's name. */
async function freeId(to: string, takenAtMs: number): Promise<string> {
  const names = await readdir(to);
  for (let atMs = takenAtMs; ; atMs += 1000) {
    const id = backupId(atMs);
    if (!names.includes(id)) return id;
  }
}

/** One that was killed leaves its folder. Somebody else may be taking a backup now, which does not last a day. */
async function removeLeftOvers(to: string, nowMs: number): Promise<void> {
  const oldest = `${partialPrefix}${backupId(nowMs - dayMs)}`;
  for (const name of await readdir(to)) {
    if (name.startsWith(partialPrefix) && name < oldest)
      await rm(join(to, name), { recursive: true, force: true });
  }
}

/** `12.3 MB` */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}
