import type { KeyObject } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { WriterKeys } from "./key-files.ts";
import { readSigned, writeSigned } from "./sealed-file.ts";

/*
 * Which keys of merchants were revoked, in `DIR/revoked/<the server's identifier>`: what PostgreSQL knew a few seconds before it was lost, or
 * behind the time to which it is restored. Files are only added, so that a server of an earlier state cannot take back what a later one said.
 * They are signed and not encrypted: ids and times open nothing.
 */

const revokedFolder = "revoked";
const namePattern = /^(\d{8}T\d{9})-[0-9a-f]{8}\.json$/;

export const revokedKey = z.strictObject({ id: z.uuid(), revokedAt: z.iso.datetime() });
const revokedSchema = z.strictObject({ keys: z.array(revokedKey).min(1) });

export type RevokedKey = z.output<typeof revokedKey>;

type Place = {
  /** The folder of the backups. */
  to: string;
  systemIdentifier: string;
};

/** Adds keys to the archive; the file is named by the latest of their times. */
export async function addRevocations({
  to,
  systemIdentifier,
  revoked,
  keys,
}: Place & { revoked: readonly RevokedKey[]; keys: WriterKeys }): Promise<void> {
  const latest = revoked
    .map(({ revokedAt }) => revokedAt)
    .sort()
    .at(-1);
  if (latest === undefined) return;
  const folder = join(to, revokedFolder, systemIdentifier);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // One of an earlier process may end with the same key.
  const unique = crypto.randomUUID().slice(0, 8);
  const file = join(folder, `${latest.replace(/[-:.Z]/g, "")}-${unique}.json`);
  await writeSigned({ file, value: { keys: revoked }, signingKey: keys.signingKey });
}

/** All that the archive knows. @throws CommandError where a file is not what was written. */
export async function readRevocations({
  to,
  systemIdentifier,
  verifyKey,
}: Place & { verifyKey: KeyObject }): Promise<readonly RevokedKey[]> {
  const folder = join(to, revokedFolder, systemIdentifier);
  const byId = new Map<string, RevokedKey>();
  for (const name of await namesIn(folder)) {
    const file = join(folder, name);
    // One that is being written has no signature yet.
    if (!(await isThere(`${file}.sig`))) continue;
    const { keys } = await readSigned({ file, schema: revokedSchema, verifyKey });
    for (const key of keys) byId.set(key.id, byId.get(key.id) ?? key);
  }
  return [...byId.values()];
}

/** The latest time that the archive has; what was revoked before is in it. */
export async function lastRevocation({ to, systemIdentifier }: Place): Promise<Date | undefined> {
  const last = (await namesIn(join(to, revokedFolder, systemIdentifier))).at(-1);
  const [, time = ""] = namePattern.exec(last ?? "") ?? [];
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})$/.exec(time);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, ms] = parts;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

/** Removes what stands in every backup that is kept: all that was revoked before the oldest of them. */
export async function pruneRevocations({
  to,
  systemIdentifier,
  before,
}: Place & { before: Date }): Promise<void> {
  const folder = join(to, revokedFolder, systemIdentifier);
  const limit = before.toISOString().replace(/[-:.Z]/g, "");
  for (const name of await namesIn(folder)) {
    if ((namePattern.exec(name)?.[1] ?? limit) >= limit) continue;
    await rm(join(folder, `${name}.sig`), { force: true });
    await rm(join(folder, name), { force: true });
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => namePattern.test(name)).sort();
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
