import { chown, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { getuid } from "node:process";

/** `path` counts from the network's folder. */
export type SecretFile = { path: string; content: string };

/**
 * Adds secrets to a network: all of them, or none, in their order. What is there is never replaced.
 * @returns why not, in a sentence; undefined where they are written.
 */
export async function writeSecrets(
  folder: string,
  files: readonly SecretFile[],
): Promise<string | undefined> {
  for (const [index, { path, content }] of files.entries()) {
    const failure = await writeNew({ folder, path, content });
    if (failure === undefined) continue;
    for (const written of files.slice(0, index)) await rm(resolve(folder, written.path), { force: true });
    const why = failure === "EEXIST" ? "it is there already, and is not replaced" : failure;
    return `${resolve(folder, path)} cannot be written: ${why}.`;
  }
  return undefined;
}

/** Readable by the owner of the network's keys alone, as whom containers run. Answers the error's code where it failed. */
async function writeNew({
  folder,
  path,
  content,
}: SecretFile & { folder: string }): Promise<string | undefined> {
  try {
    // Asked first, so that a file that is made has its owner.
    const { uid, gid } = await stat(join(folder, "secrets", "redis-url"));
    const file = resolve(folder, path);
    await writeFile(file, content, { flag: "wx", mode: 0o600 });
    if (getuid?.() === 0) await chown(file, uid, gid);
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}
