import { chown, lstat, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { updateComposeEnvironment } from "../../../genesis/compose-environment.ts";
import type { Manifest } from "../../../genesis/manifest.ts";
import { membershipFiles, type NetworkFile } from "../../../genesis/network-files.ts";
import { nodeKeys } from "../docker/hand-over.ts";

const composeFile = "compose.env";

/**
 * Writes what says which nodes there are. The manifest comes last: what is run again after a crash finds either network.
 * @returns the variables of compose.env that somebody has set otherwise, each with the value that fits now.
 */
export async function writeMembership({
  folder,
  before,
  after,
}: {
  folder: string;
  before: Manifest;
  after: Manifest;
}): Promise<readonly string[]> {
  const text = await readFile(join(folder, composeFile), "utf8").catch(() => "");
  const compose = updateComposeEnvironment({ text, before, after });
  await writeFiles(folder, [{ path: composeFile, content: compose.text }, ...membershipFiles(after)]);
  return compose.own;
}

/** Writes files into the network's folder, each whole or not at all, as their owner: the one of the keys that are there. */
export async function writeFiles(folder: string, files: readonly NetworkFile[]): Promise<void> {
  const owner = await ownerOf(folder);
  for (const { path, content, secret } of files) {
    const target = join(folder, path);
    const isNew = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const next = `${target}.new`;
    // One that a crash has left is nobody's.
    await rm(next, { force: true });
    const handle = await open(next, "wx", secret ? 0o600 : 0o644);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (owner !== undefined) {
      if (isNew !== undefined) await chown(dirname(target), owner.uid, owner.gid);
      await chown(next, owner.uid, owner.gid);
    }
    await rename(next, target);
  }
}

export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Undefined where all of it is ours, or where we may not give files away. */
async function ownerOf(folder: string): Promise<{ uid: number; gid: number } | undefined> {
  const [first] = await nodeKeys(folder);
  if (first === undefined || process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(join(folder, first));
  return uid === 0 ? undefined : { uid, gid };
}
