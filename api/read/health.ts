import { checkPostgres } from "../../lib/postgres/postgres-health.ts";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import type { Follower } from "../follower/follower.ts";
import type { HeadWatch } from "../follower/head-watch.ts";
import type { HealthRecord } from "../records/chain.ts";

/** An index that is a few blocks behind is on its way; further behind it is catching up. */
const behindBlocksMax = 5;

/** Whoever asks costs PostgreSQL no more than one question in so long. */
const keptForMs = 1000;

/** `readHealth` for anybody, as often as they like. */
export function createHealth(
  parts: Parameters<typeof readHealth>[0],
  { monotonicMs = () => performance.now() }: { monotonicMs?: () => number } = {},
): () => Promise<HealthRecord> {
  let asked: { atMs: number; record: Promise<HealthRecord> } | undefined;
  return () => {
    const nowMs = monotonicMs();
    if (asked === undefined || nowMs - asked.atMs >= keptForMs) {
      asked = { atMs: nowMs, record: readHealth(parts) };
    }
    return asked.record;
  };
}

/** How the API is, for `/health`: failing only where the chain cannot be read. */
async function readHealth({
  heads,
  redis,
  pool,
  follower,
  version,
}: {
  heads: Pick<HeadWatch, "head" | "isAnswering">;
  redis: Pick<RedisClient, "status">;
  pool: Pick<PostgresPool, "query">;
  follower: Pick<Follower, "standing">;
  version: string;
}): Promise<HealthRecord> {
  const { next, behindBlocks, isConnected, refused } = follower.standing();
  const database = (await checkPostgres({ pool })).up;
  const isChainThere = heads.isAnswering() && heads.head() !== undefined;
  const isIndexFailing = !isConnected || refused !== undefined;
  const isBehind = behindBlocks === undefined || behindBlocks > behindBlocksMax;
  const checks: HealthRecord["checks"] = {
    chain: { status: isChainThere ? "ok" : "failing", blockNumber: heads.head()?.number ?? null },
    redis: { status: redis.status === "ready" ? "ok" : "failing" },
    database: { status: database ? "ok" : "failing" },
    index: {
      status: isIndexFailing ? "failing" : isBehind ? "behind" : "ok",
      indexedBlock: next === undefined || next === 0 ? null : next - 1,
      behindBlocks: behindBlocks ?? null,
    },
  };
  const isWhole = Object.values(checks).every(({ status }) => status === "ok");
  return { status: isChainThere ? (isWhole ? "ok" : "degraded") : "failing", checks, version };
}
