import { createHash } from "node:crypto";
import { cp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** In the network's folder. */
export const keptConfigFolder = "config-before";
/** The files that all processes of now have accepted. A version's own stand beside them, under its name. */
const runningName = "running";
/** It becomes a folder's name. */
export const versionPattern = /^\d[\w.+-]{0,63}$/;

export type KeptConfig = ReturnType<typeof createKeptConfig>;

/**
 * Copies of the configuration files, since config/ is brought to a new version before the processes are: a process that goes back has to find
 * the files of its own version.
 */
export function createKeptConfig({
  folder,
  configFolder,
}: {
  /** The network's. */
  folder: string;
  /** The one that people edit. */
  configFolder: string;
}) {
  const place = (name: string) => join(folder, keptConfigFolder, name);

  async function differs(one: string, other: string): Promise<boolean> {
    const [left, right] = await Promise.all([hashOf(one), hashOf(other)]);
    return left !== right;
  }

  return {
    /**
     * Keeps the files of now, unless they are kept already, where `accepted` says that all processes that run take them. `replaced` are files that
     * processes have in another version than the folder, by their names.
     */
    async keep(
      accepted: () => Promise<{ replaced: Readonly<Record<string, string>> } | undefined>,
    ): Promise<void> {
      if (!(await differs(configFolder, place(runningName)))) return;
      const taken = await accepted();
      if (taken !== undefined) await copyFolder(configFolder, place(runningName), taken.replaced);
    },
    /** Has what is kept stand under the version that runs with it. @returns whether there are files of that version. */
    async keepAs(version: string): Promise<boolean> {
      if (!versionPattern.test(version)) return false;
      const isKept = (await hashOf(place(runningName))) !== undefined;
      if (isKept && (await differs(place(runningName), place(version))))
        await copyFolder(place(runningName), place(version));
      return (await hashOf(place(version))) !== undefined;
    },
    /** Whether a version has files of its own that are others than those of now. */
    async hasOther(version: string | undefined): Promise<boolean> {
      if (version === undefined || !versionPattern.test(version)) return false;
      const own = await hashOf(place(version));
      return own !== undefined && own !== (await hashOf(configFolder));
    },
    /** Where somebody puts the files that were never kept. */
    runningFolder: place(runningName),
    folderOf: place,
  };
}

/** Of all names and contents; undefined where there is no file. */
async function hashOf(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  if (files.length === 0) return undefined;
  const hash = createHash("sha256");
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${relative(folder, file)}\0${content.byteLength}\0`).update(content);
  }
  return hash.digest("hex");
}

/** Whole or not at all; the modes stay, so that who reads the one can read the other. */
async function copyFolder(
  from: string,
  to: string,
  replaced: Readonly<Record<string, string>> = {},
): Promise<void> {
  const next = `${to}.new`;
  await rm(next, { recursive: true, force: true });
  await cp(from, next, { recursive: true });
  for (const [name, text] of Object.entries(replaced)) await writeFile(join(next, name), text);
  await rm(to, { recursive: true, force: true });
  await rename(next, to);
}
