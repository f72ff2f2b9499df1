import { readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { startOwnRedis } from "./own-redis.ts";
import type { Teardown } from "./teardown.ts";

export type DurableRedis = {
  url: string;
  /** Kills it with SIGKILL and starts it on the same port from what is on disk. */
  crash(): Promise<void>;
  /** The same, but the disk has lost the end of the append-only file: `share` of it is left, 0 to 1. */
  crashTruncated(share: number): Promise<void>;
};

/** A redis-server that writes to disk before it answers: `appendfsync always`, as the faucet requires. */
export async function startDurableRedis(
  t: Teardown,
  { program }: { program?: string } = {},
): Promise<DurableRedis> {
  const own = await startOwnRedis(t, {
    appendfsync: "always",
    ...(program === undefined ? {} : { program }),
  });
  const { url, folder, kill, restart } = own;
  const appendOnly = join(folder, "appendonlydir");
  return {
    url,
    async crash() {
      await kill();
      await restart();
    },
    async crashTruncated(share) {
      await kill();
      const files = (await readdir(appendOnly)).filter((name) => name.endsWith(".incr.aof"));
      const [name = ""] = files;
      if (files.length !== 1) throw new Error(`one file was expected: ${files.join()}`);
      const file = join(appendOnly, name);
      await truncate(file, Math.floor((await stat(file)).size * share));
      await restart();
    },
  };
}
