import { chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../../../lib/cli/command.ts";

/** Who containers run as where root made the network: the first user of most machines, and the user of Besu's image. */
const instead = { uid: 1000, gid: 1000 };

/**
 * The containers' user: the owner of the network's keys, since nobody else can read them. It is never root: where root
 * made the keys and secrets, they are handed over to user 1000, which only root can do.
 */
export async function handOver(folder: string): Promise<{ uid: number; gid: number }> {
  const keys = await nodeKeys(folder);
  const [first] = keys;
  if (first === undefined) throw new CommandError(`There is no node's key in ${folder}.`, { exitCode: 1 });
  const { uid, gid } = await stat(join(folder, first));
  if (uid !== 0) return { uid, gid };
  const secrets = await readdir(join(folder, "secrets"));
  // The first file shows who owns all of them, so it changes last.
  const files = [...secrets.map((name) => join("secrets", name)), ...keys.toReversed()];
  for (const file of files) await chown(join(folder, file), instead.uid, instead.gid);
  return instead;
}

/** The keys of the nodes in a network's folder: those of validators that are there, and the trace node's. */
export async function nodeKeys(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith("validator-") || name === "trace-node",
  );
  const files = names.sort().map((name) => join(name, "key"));
  const found = await Promise.all(
    files.map((file) =>
      stat(join(folder, file)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_file, index) => found[index]);
}
