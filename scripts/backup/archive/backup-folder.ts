import type { KeyObject } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CommandError } from "../../../lib/cli/command.ts";
import { type BackupManifest, manifestFile, manifestSchema } from "./manifest.ts";
import { pruneRevocations } from "./revocations.ts";
import { readSigned } from "./sealed-file.ts";
import { pruneWal } from "./wal-archive.ts";

const idPattern = /^\d{8}T\d{6}$/;

/** A backup's folder, and the folder of all backups around it. */
export type FoundBackup = { folder: string; root: string; manifest: BackupManifest };

/** The names of the backups in a folder, oldest first. One that is being taken is none. */
export async function listBackups(root: string): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => {
    throw new CommandError(`${root} cannot be read: name the folder of the backups with --to.`, {
      exitCode: 1,
    });
  });
  return names.filter((name) => idPattern.test(name)).sort();
}

/**
 * The backup that a word means: its folder, its id in `root`, or `latest`.
 * @throws CommandError where there is none, or its manifest is not what the holder of the signing key wrote.
 */
export async function findBackup({
  word,
  root,
  verifyKey,
}: {
  word: string;
  root: string;
  verifyKey: KeyObject | undefined;
}): Promise<FoundBackup> {
  const folder = word === "latest" ? await latestOf(root) : idPattern.test(word) ? join(root, word) : word;
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere)
    throw new CommandError(
      `There is no backup ${word} in ${root}. npm run backup -- list tells which there are.`,
      { exitCode: 1 },
    );
  const manifest = await readSigned({ file: join(folder, manifestFile), schema: manifestSchema, verifyKey });
  // A copy of a signed backup under a later name would be an old state that looks new.
  if (manifest.id !== basename(resolve(folder)))
    throw new CommandError(`${folder} is the backup ${manifest.id}: give it that name again.`, {
      exitCode: 1,
    });
  return { folder, root: dirname(resolve(folder)), manifest };
}

async function latestOf(root: string): Promise<string> {
  const last = (await listBackups(root)).at(-1);
  if (last === undefined) throw new CommandError(`There is no backup in ${root}.`, { exitCode: 1 });
  return join(root, last);
}

/** Removes all but the newest `keep` backups, and the part of PostgreSQL's log that only they needed. @returns the removed ones. */
export async function pruneBackups({
  root,
  keep,
}: {
  root: string;
  keep: number;
}): Promise<readonly string[]> {
  const all = await listBackups(root);
  const gone = all.slice(0, Math.max(0, all.length - keep));
  for (const name of gone) await rm(join(root, name), { recursive: true, force: true });
  const kept = all.slice(gone.length);
  for (const name of kept) {
    const { manifest } = await findBackup({ word: name, root, verifyKey: undefined });
    const postgres = manifest.parts.find((part) => part.name === "postgres");
    if (postgres?.name !== "postgres") continue;
    await pruneWal({ to: root, ...postgres.facts });
    const { systemIdentifier } = postgres.facts;
    await pruneRevocations({ to: root, systemIdentifier, before: new Date(manifest.takenAt) });
    break;
  }
  return gone;
}
