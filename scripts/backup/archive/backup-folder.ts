import type { KeyObject } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CommandError } from "../../../lib/cli/command.ts";
import { type BackupManifest, manifestFile, manifestSchema, type PartName } from "./manifest.ts";
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
 * The backup that a word means: its folder, its id in `root`, or `latest`: the newest one, that has `part` where one is asked for.
 * @throws CommandError where there is none, or its manifest is not what the holder of the signing key wrote.
 */
export async function findBackup({
  word,
  root,
  verifyKey,
  part,
}: {
  word: string;
  root: string;
  verifyKey: KeyObject | undefined;
  part?: PartName;
}): Promise<FoundBackup> {
  if (word === "latest") return latestOf({ root, verifyKey, part });
  const folder = idPattern.test(word) ? join(root, word) : word;
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

async function latestOf({
  root,
  verifyKey,
  part,
}: {
  root: string;
  verifyKey: KeyObject | undefined;
  part: PartName | undefined;
}): Promise<FoundBackup> {
  for (const word of (await listBackups(root)).toReversed()) {
    const found = await findBackup({ word, root, verifyKey });
    if (part === undefined || found.manifest.parts.some(({ name }) => name === part)) return found;
  }
  const what = part === undefined ? "" : ` that has ${part}`;
  throw new CommandError(`There is no backup${what} in ${root}.`, { exitCode: 1 });
}

/**
 * Removes all but the newest `keep` backups of each part, and what of PostgreSQL's log only they needed: copies of one
 * part that somebody takes by hand push no whole backup out. @returns the removed ones.
 */
export async function pruneBackups({
  root,
  keep,
}: {
  root: string;
  keep: number;
}): Promise<readonly string[]> {
  const all = await listBackups(root);
  const gone: string[] = [];
  const newer = new Map<string, number>();
  let oldest: BackupManifest | undefined;
  for (const [index, word] of all.toReversed().entries()) {
    const manifest = await findBackup({ word, root, verifyKey: undefined }).then(
      (found) => found.manifest,
      () => undefined,
    );
    const parts = manifest?.parts.map(({ name }) => name) ?? [];
    // Of one that cannot be read nobody knows the parts.
    const isKept =
      manifest === undefined ? index < keep : parts.some((part) => (newer.get(part) ?? 0) < keep);
    for (const part of parts) newer.set(part, (newer.get(part) ?? 0) + 1);
    if (!isKept) gone.unshift(word);
    else if (manifest?.parts.some(({ name }) => name === "postgres")) oldest = manifest;
  }
  for (const name of gone) await rm(join(root, name), { recursive: true, force: true });
  const postgres = oldest?.parts.find((part) => part.name === "postgres");
  if (oldest !== undefined && postgres?.name === "postgres") {
    await pruneWal({ to: root, ...postgres.facts });
    const { systemIdentifier } = postgres.facts;
    await pruneRevocations({ to: root, systemIdentifier, before: new Date(oldest.takenAt) });
  }
  return gone;
}
