import { chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Who containers run as where root made the network: the first user of most machines, and the user of Besu's image. */
const instead = { uid: 1000, gid: 1000 };

/**
 * The containers' user: the owner of the network's keys, since nobody else can read them. It is never root: where root
 * made the keys and secrets, they are handed over to user 1000, which only root can do.
 */
export async function handOver(folder: string): Promise<{ uid: number; gid: number }> {
  const { uid, gid } = await stat(join(folder, "validator-1", "key"));
  if (uid !== 0) return { uid, gid };
  const secrets = await readdir(join(folder, "secrets"));
  const nodes = (await readdir(folder)).filter(
    (name) => name.startsWith("validator-") || name === "trace-node",
  );
  const files = [
    ...secrets.map((name) => join("secrets", name)),
    // The first file shows who owns all of them, so it changes last.
    ...nodes
      .sort()
      .reverse()
      .map((name) => join(name, "key")),
  ];
  for (const file of files) await chown(join(folder, file), instead.uid, instead.gid);
  return instead;
}
