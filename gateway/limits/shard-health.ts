import { Cluster, type Redis } from "ioredis";
import type { Logger } from "pino";
import { nodeOf } from "../../lib/redis/cluster-client.ts";
import { teamBudgetKey } from "../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { createRedisHealth, type RedisHealth } from "./redis-health.ts";

/** Whether the Redis of a team answers. A single Redis is that of all; in a cluster each node stands for its teams. */
export type ShardHealth = {
  of(team: string): RedisHealth;
  /** See `RedisHealth`: for all of them, those that come later too. */
  hold(reason: string | undefined): void;
  /** Of all together: the first that does not answer. */
  state(): ReturnType<RedisHealth["state"]>;
  stop(): void;
};

export function createShardHealth({
  redis,
  probe,
  ...options
}: {
  redis: RedisClient;
  /** Asks the Redis that has this team's budgets. */
  probe: (team: string) => Promise<void>;
  probeIntervalMs: number;
  now: () => number;
  logger: Pick<Logger, "info" | "warn">;
}): ShardHealth {
  // One count for all nodes: a team that has moved to another node finds another number there, and forgets what it knew.
  let outages = 0;
  const nextOutage = () => {
    outages += 1;
    return outages;
  };
  if (!(redis instanceof Cluster)) {
    const health = createRedisHealth({ ...options, redis, nextOutage, probe: () => probe(anyTeam) });
    return { ...health, of: () => health };
  }

  const cluster = redis;
  const healths = new Map<Redis, RedisHealth>();
  const away = createAway({ outage: nextOutage(), now: options.now });
  let held: string | undefined;
  const forget = (node: Redis) => {
    healths.get(node)?.stop();
    healths.delete(node);
  };
  cluster.on("-node", forget);

  function healthOf(node: Redis, team: string): RedisHealth {
    const known = healths.get(node);
    if (known !== undefined) return known;
    const health = createRedisHealth({ ...options, redis: node, nextOutage, probe: () => probe(team) });
    if (held !== undefined) health.hold(held);
    healths.set(node, health);
    return health;
  }

  return {
    of(team) {
      const node = nodeOf(cluster, teamBudgetKey(team));
      return node === undefined ? away : healthOf(node, team);
    },
    hold(reason) {
      held = reason;
      for (const health of healths.values()) health.hold(reason);
    },
    state() {
      // A node may have gone, or be another's replica now.
      const masters = new Set(cluster.nodes("master"));
      for (const node of healths.keys()) if (!masters.has(node)) forget(node);
      const states = [...healths.values()].map((health) => health.state());
      if (cluster.status !== "ready") states.unshift(away.state());
      const found = states.find(({ answers }) => !answers) ?? states[0] ?? { ...away.state(), answers: true };
      return held === undefined ? found : { ...found, answers: false, reason: held };
    },
    stop() {
      cluster.off("-node", forget);
      for (const health of healths.values()) health.stop();
    },
  };
}

/** Where there is one Redis its probe belongs to no team. */
const anyTeam = "";

/** For teams whose node nobody knows. */
function createAway({ outage, now }: { outage: number; now: () => number }): RedisHealth {
  const since = now();
  return {
    answers: () => false,
    outage: () => outage,
    failed() {},
    hold() {},
    state: () => ({ answers: false, since, reason: "no node of the cluster is known to have the slot" }),
    stop() {},
  };
}
