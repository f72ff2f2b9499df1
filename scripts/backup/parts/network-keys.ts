import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { readManifest } from "../../../genesis/manifest.ts";
import { nativeFolder } from "../../../genesis/write-network.ts";
import { CommandError } from "../../../lib/cli/command.ts";
import { packFolder } from "./tar.ts";

const filesMax = 10_000;
const bytesMax = 64 * 1024 * 1024;

/**
 * A network's folder: keys of validators, keystores and their passwords, secrets of the databases, genesis block, addresses. Chains and logs
 * of `--native` are left out.
 *
 * @throws CommandError where it is no network's folder, or holds more than keys.
 */
export async function packNetworkKeys(folder: string): Promise<{
  source: Readable;
  facts: { files: number };
  chain: { chainId: number; genesisHash: string };
}> {
  const read = readManifest(folder);
  if ("problem" in read) throw new CommandError(read.problem, { exitCode: 1 });
  const { chainId, genesisHash } = read.manifest;
  const names = (await readdir(folder)).filter((name) => name !== nativeFolder).sort();
  const { files } = await measure(folder, names);
  // A name that begins with a dash is none of tar's options.
  return {
    source: packFolder(folder, { names: names.map((name) => `./${name}`) }),
    facts: { files },
    chain: { chainId, genesisHash },
  };
}

async function measure(
  folder: string,
  names: readonly string[],
  most = { files: filesMax, bytes: bytesMax },
): Promise<{ files: number; bytes: number }> {
  let [files, bytes] = [0, 0];
  for (const name of names) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isDirectory()) {
      const inside = await measure(path, await readdir(path), most);
      files += inside.files;
      bytes += inside.bytes;
    } else {
      files += 1;
      bytes += found.size;
    }
    if (files > most.files || bytes > most.bytes)
      throw new CommandError(
        `${folder} holds more than a network's keys: ${path} is beyond ${filesMax} files or 64 MiB.`,
        {
          exitCode: 1,
        },
      );
  }
  return { files, bytes };
}

/** How many files a folder holds. */
export async function countFiles(folder: string): Promise<number> {
  const unbounded = { files: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  return (await measure(folder, await readdir(folder), unbounded)).files;
}
