import { Redis } from "ioredis";
import { keyLostKey } from "../../../lib/redis/keys/api-keys.ts";
import { findProgram } from "../../processes/find-program.ts";
import { startRedis } from "../../processes/start-redis.ts";
import type { SnapshotFacts } from "../parts/redis-snapshot.ts";

const stopWithinMs = 10_000;

/** Starts a Redis on what was restored, and counts. Keys whose time is over are not loaded, so fewer may be there. */
export async function tryRedis({
  facts,
  folder,
  env,
  isMarked,
}: {
  facts: SnapshotFacts;
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** One more key says that API keys have to be confirmed. */
  isMarked: boolean;
}): Promise<{ found: string; problem: string | undefined }> {
  const program = await findProgram({ names: ["redis-server", "valkey-server"], path: env["PATH"] });
  if (program === undefined)
    return { found: "", problem: "no redis-server is installed here, so it was not tried" };
  const expired: number[] = [];
  // Only these lines are of use: how many keys were loaded, and how many were over.
  const onLine = (line: string) => expired.push(Number(/keys expired: (\d+)/.exec(line)?.[1] ?? 0));
  const started = await startRedis({ program, env, folder, onLine, loglevel: "notice" });
  if ("failed" in started) return { found: "", problem: started.failed };
  const redis = new Redis(started.url, { maxRetriesPerRequest: 0, lazyConnect: true });
  redis.on("error", () => {});
  try {
    await redis.connect();
    const marks = isMarked ? await redis.exists(keyLostKey) : 0;
    const over = expired.reduce((sum, count) => sum + count, 0);
    const keys = (await redis.dbsize()) - marks;
    const missing = facts.keys - over - keys;
    const found = `${keys} keys${over === 0 ? "" : `, and ${over} whose time is over`}`;
    // While it was loaded a few more may have come to their end.
    const problem =
      missing > Math.max(10, facts.keys / 100) ? `${missing} of ${facts.keys} keys are missing` : undefined;
    if (isMarked && marks === 0)
      return { found, problem: "its API keys would be good without being confirmed" };
    return { found, problem };
  } finally {
    redis.disconnect();
    await started.child.stop({ withinMs: stopWithinMs });
  }
}
