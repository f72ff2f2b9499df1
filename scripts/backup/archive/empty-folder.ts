import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../../../lib/cli/command.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { syncFolder } from "../../../lib/sync-folder.ts";

const staging = ".restoring";
/** A disk's own folder, and what a restore that was ended has left. */
const notCounted = ["lost+found", staging];

/**
 * Fills a folder that is empty or not there: with all of it or with nothing. The folder may be a volume, so files are made in a folder inside
 * and moved up, `last` behind all others: without it no program takes the rest for its own.
 *
 * @throws CommandError where something is in the folder. It is left as it is.
 */
export async function fillEmptyFolder({
  folder,
  last,
  fill,
}: {
  folder: string;
  last: string;
  fill: (staged: string) => Promise<void>;
}): Promise<void> {
  const isNew = await makeFolder(folder);
  const found = (await readdir(folder)).filter((name) => !notCounted.includes(name));
  if (found.length > 0) {
    throw new CommandError(
      `${folder} is not empty (${found.slice(0, 3).join(", ")}${found.length > 3 ? ", …" : ""}). Nothing is restored over it: move it aside, or name an empty folder with --into.`,
      { exitCode: 1 },
    );
  }
  const staged = join(folder, staging);
  await rm(staged, { recursive: true, force: true });
  await mkdir(staged, { mode: 0o700 });
  try {
    await fill(staged);
    const names = (await readdir(staged)).sort((a, b) => Number(a === last) - Number(b === last));
    await syncFolder(staged);
    for (const name of names) await rename(join(staged, name), join(folder, name));
  } catch (error) {
    await rm(isNew ? folder : staged, { recursive: true, force: true });
    throw error;
  }
  await rm(staged, { recursive: true, force: true });
  await syncFolder(folder);
}

/** @returns whether it was not there before. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    return (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
  } catch (error) {
    throw new CommandError(`${folder} cannot be made (${errorCode(error)}).`, { exitCode: 1 });
  }
}
