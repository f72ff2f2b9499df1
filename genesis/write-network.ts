import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { kill, pid } from "node:process";
import { errorCode } from "../lib/error-code.ts";
import { syncFolder } from "../lib/sync-folder.ts";
import type { NetworkFile } from "./network-files.ts";

export type WrittenNetwork = { folder: string; movedTo?: string };

/**
 * Where scripts/network notes a process that it runs from this folder; it is removed when the process has been stopped.
 */
export const processFile = "process.json";
export const nativeFolder = "native";

/**
 * Writes a network's folder: into a temporary one beside it, which is given its name when it is complete and on the
 * disk. A folder that is there is left alone, or with `force` moved aside.
 *
 * @returns what was done, or why nothing was.
 */
export async function writeNetwork({
  folder,
  files,
  force,
  now,
}: {
  /** Without a slash at its end. */
  folder: string;
  files: Iterable<NetworkFile>;
  force: boolean;
  now: () => Date;
}): Promise<WrittenNetwork | { refused: string }> {
  const target = resolve(folder);
  const refused = await whyNot({ target, folder, force });
  if (refused !== undefined) return { refused };
  await removeLeftOvers(target);
  const temporary = `${temporaryPrefix(target)}${pid}`;
  try {
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    for (const file of files) await writeFile({ folder: temporary, file });
    await syncFolder(temporary);
    if (!force || !(await exists(target))) {
      // ENOTEMPTY: another init was faster.
      const failure = await rename(temporary, target).catch(errorCode);
      return failure === undefined
        ? { folder }
        : { refused: `${folder} cannot be put in its place (${failure})` };
    }
    const movedTo = `${folder}.${now().toISOString().replaceAll(":", "-")}`;
    await rename(target, resolve(movedTo));
    await rename(temporary, target);
    return { folder, movedTo };
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await syncFolder(dirname(target)).catch(() => {});
  }
}

async function whyNot({
  target,
  folder,
  force,
}: {
  target: string;
  folder: string;
  force: boolean;
}): Promise<string | undefined> {
  if (!(await exists(target))) return undefined;
  const names = await readdir(target).catch(() => undefined);
  if (names === undefined) return `${folder} exists and is not a folder`;
  if (names.length === 0) return undefined;
  if (!force) {
    return (
      `${folder} is there already and holds ${names.sort().join(", ")}. It is left as it is: ` +
      "name another with --out FOLDER, or move it aside with --force"
    );
  }
  const running = await readdir(join(target, nativeFolder)).catch(() => []);
  for (const name of running) {
    if (await exists(join(target, nativeFolder, name, processFile))) {
      return `${name} of ${folder} is running: first npm run network -- down --native --folder ${folder}`;
    }
  }
  return undefined;
}

async function writeFile({ folder, file }: { folder: string; file: NetworkFile }): Promise<void> {
  const path = join(folder, file.path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "wx", file.secret ? 0o600 : 0o644);
  try {
    await handle.writeFile(file.content);
    // Without it a power cut can leave the new name with none of its content.
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What an init that was killed has left: folders that hold keys of no network. One that still runs keeps its own. */
async function removeLeftOvers(target: string): Promise<void> {
  const prefix = basename(temporaryPrefix(target));
  const names = await readdir(dirname(target)).catch(() => []);
  for (const name of names) {
    const owner = Number(name.startsWith(prefix) ? name.slice(prefix.length) : Number.NaN);
    if (Number.isInteger(owner) && (owner === pid || !isRunning(owner))) {
      await rm(join(dirname(target), name), { recursive: true, force: true });
    }
  }
}

function temporaryPrefix(target: string): string {
  return join(dirname(target), `.${basename(target)}.new-`);
}

function isRunning(owner: number): boolean {
  try {
    return kill(owner, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
