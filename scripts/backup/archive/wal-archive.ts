import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { CommandError } from "../../../lib/cli/command.ts";
import type { ReaderKeys, WriterKeys } from "./key-files.ts";
import { readSealed, readSigned, sealedSchema, writeSealed, writeSigned } from "./sealed-file.ts";

/*
 * PostgreSQL's write-ahead log, a file a segment, in `DIR/wal/<the server's identifier>`. With it a backup is restored to any time since.
 * PostgreSQL puts finished segments into a spool (`archive_command`); from there they are encrypted into the archive and removed.
 */

const walFolder = "wal";
const segmentPattern = /^[0-9A-F]{24}$/;
/** Segments, the histories of timelines, and notes of where a base backup began. */
const namePattern = /^(?:[0-9A-F]{24}(?:\.partial|\.[0-9A-F]{8}\.backup)?|[0-9A-F]{8}\.history)$/;
const entrySchema = z.strictObject({
  name: z.string().regex(namePattern),
  /** When PostgreSQL finished it. */
  finishedAt: z.iso.datetime(),
  ...sealedSchema.shape,
});

export type WalEntry = z.output<typeof entrySchema>;

/**
 * Encrypts what waits in `spool` into the archive in `to`, oldest first, and removes it from the spool once it is on the disk.
 * @returns the segments and other files that were shipped. @throws CommandError where a segment of that name with another content is archived.
 */
export async function shipWal({
  spool,
  to,
  keys,
}: {
  spool: string;
  to: string;
  keys: WriterKeys;
}): Promise<readonly string[]> {
  const names = (await readdir(spool)).filter((name) => namePattern.test(name)).sort();
  const firstSegment = names.find((name) => segmentPattern.test(name));
  // The history of a timeline does not say whose it is; a segment of it follows within archive_timeout.
  if (firstSegment === undefined) return [];
  const folder = join(to, walFolder, await systemIdentifierOf(join(spool, firstSegment)));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of names) {
    await shipOne({ spool, folder, name, keys });
    await rm(join(spool, name));
  }
  return names;
}

async function shipOne({
  spool,
  folder,
  name,
  keys,
}: {
  spool: string;
  folder: string;
  name: string;
  keys: WriterKeys;
}): Promise<void> {
  const from = join(spool, name);
  const [file, entryFile] = [join(folder, `${name}.zst.age`), join(folder, `${name}.json`)];
  const { mtime } = await stat(from);
  // PostgreSQL archives a segment again where it crashed before it noted that it had been. The second is kept beside the first until compared.
  const next = `${file}.new`;
  await rm(next, { force: true });
  const sealed = await writeSealed({
    source: createReadStream(from),
    file: next,
    recipients: keys.recipients,
  });
  const before = await isSigned(entryFile);
  if (before) {
    const entry = await readSigned({ file: entryFile, schema: entrySchema, verifyKey: undefined });
    await rm(next);
    if (entry.plainSha256 === sealed.plainSha256) return;
    throw new CommandError(
      `${name} is archived with another content. Two servers write into ${spool}, or one was restored and archives what it had archived: see the runbook, "Back up and restore".`,
      { exitCode: 1 },
    );
  }
  // Left by an end in between.
  await rm(entryFile, { force: true });
  await rm(`${entryFile}.sig`, { force: true });
  await rename(next, file);
  const value: WalEntry = { name, finishedAt: mtime.toISOString(), ...sealed };
  await writeSigned({ file: entryFile, value, signingKey: keys.signingKey });
}

/**
 * Writes what a recovery from `firstSegment` on reads into `folder`: all that is archived, or what was finished up to `until` and the first file
 * behind it.
 *
 * @throws CommandError where nothing reaches as far as `until`, a segment in between is missing, or a file is not what was archived.
 */
export async function readWal({
  from,
  systemIdentifier,
  firstSegment,
  until,
  keys,
  folder,
}: {
  /** The folder of the backups. */
  from: string;
  systemIdentifier: string;
  firstSegment: string;
  until: Date | undefined;
  keys: ReaderKeys;
  folder: string;
}): Promise<{ segments: number; lastAt: string | undefined }> {
  const archive = join(from, walFolder, systemIdentifier);
  const names = (await readdir(archive).catch(() => []))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .filter((name) => !segmentPattern.test(name) || positionOf(name) >= positionOf(firstSegment));
  const entries: WalEntry[] = [];
  for (const name of names) {
    const file = join(archive, `${name}.json`);
    // One that is being written has no signature yet.
    if (!(await isSigned(file))) continue;
    entries.push(await readSigned({ file, schema: entrySchema, verifyKey: keys.verifyKey }));
  }
  const wanted = upTo(entries, until);
  checkNoneMissing(wanted, firstSegment);
  for (const entry of wanted) {
    await readSealed({
      file: join(archive, `${entry.name}.zst.age`),
      known: entry,
      identities: keys.identities,
      sink: (plain) =>
        pipeline(plain, createWriteStream(join(folder, entry.name), { flags: "wx", mode: 0o600 })),
    });
  }
  const segments = wanted.filter(({ name }) => segmentPattern.test(name));
  return { segments: segments.length, lastAt: latest(segments)?.finishedAt };
}

/** Removes what no backup needs any more: segments before the first of the oldest one that is kept. */
export async function pruneWal({
  to,
  systemIdentifier,
  firstSegment,
}: {
  to: string;
  systemIdentifier: string;
  firstSegment: string;
}): Promise<void> {
  const archive = join(to, walFolder, systemIdentifier);
  for (const file of await readdir(archive).catch(() => [])) {
    const name = file.split(".")[0] ?? "";
    if (segmentPattern.test(name) && positionOf(name) < positionOf(firstSegment))
      await rm(join(archive, file));
  }
}

function upTo(entries: readonly WalEntry[], until: Date | undefined): readonly WalEntry[] {
  if (until === undefined) return entries;
  const behind = entries.filter(
    ({ name, finishedAt }) => segmentPattern.test(name) && new Date(finishedAt) >= until,
  );
  const first = behind.sort((a, b) => a.finishedAt.localeCompare(b.finishedAt))[0];
  if (first === undefined) {
    const last = latest(entries)?.finishedAt;
    throw new CommandError(
      last === undefined
        ? "No write-ahead log is archived, so nothing behind the backup can be restored: without --until, or --until backup."
        : `The archived log ends at ${last}: name an earlier time, or --until latest for all of it.`,
      { exitCode: 1 },
    );
  }
  return entries.filter(({ finishedAt }) => finishedAt <= first.finishedAt);
}

/** On each timeline the segments follow each other; PostgreSQL would end its recovery silently at a gap. */
function checkNoneMissing(entries: readonly WalEntry[], firstSegment: string): void {
  const positions = [
    ...new Set(entries.filter(({ name }) => segmentPattern.test(name)).map(({ name }) => positionOf(name))),
  ];
  positions.sort();
  let expected = positionOf(firstSegment);
  for (const position of positions) {
    if (position !== expected) {
      throw new CommandError(
        `The archived log has a gap: segment …${expected} is missing. --until a time before it, or --until backup, can be restored.`,
        { exitCode: 1 },
      );
    }
    expected = nextPosition(position);
  }
}

function latest(entries: readonly WalEntry[]): WalEntry | undefined {
  return [...entries].sort((a, b) => b.finishedAt.localeCompare(a.finishedAt))[0];
}

/** A segment's place without its timeline: sixteen hexadecimal digits that sort. */
function positionOf(name: string): string {
  return name.slice(8, 24);
}

/** With segments of 16 MB the lower half counts to 255. */
function nextPosition(position: string): string {
  const [high, low] = [Number.parseInt(position.slice(0, 8), 16), Number.parseInt(position.slice(8), 16)];
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, "0");
  return low === 255 ? hex(high + 1) + hex(0) : hex(high) + hex(low + 1);
}

/** Which server wrote a segment: XLogLongPageHeaderData, src/include/access/xlog_internal.h */
async function systemIdentifierOf(segment: string): Promise<string> {
  const handle = await open(segment);
  try {
    const head = Buffer.alloc(32);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    if (bytesRead < head.length)
      throw new CommandError(`${segment} is no segment of PostgreSQL's log.`, { exitCode: 1 });
    return String(head.readBigUInt64LE(24));
  } finally {
    await handle.close();
  }
}

async function isSigned(file: string): Promise<boolean> {
  return stat(`${file}.sig`).then(
    ({ size }) => size > 0,
    () => false,
  );
}
