import { rm, writeFile } from "node:fs/promises";
import { findRedis } from "../processes/find-redis.ts";
import { askRedis, startRedis } from "../processes/start-redis.ts";
import type { Service, ServiceContext, StartedService } from "./service.ts";

const endWithinMs = 2000;
/** Long, since a package manager should not be interrupted while it unpacks. */
const installEndWithinMs = 8000;

/**
 * Private Redis servers on free ports with their data in `.data`, or the server that `REDIS_URL` names for both. As in
 * containers the faucet has its own Redis, in which each write waits for the disk: a lost claim is lost for good. For
 * the gateway's limits that would only be slow.
 */
export function redisServices({ givenUrl }: { givenUrl: string | undefined }): Service[] {
  if (givenUrl !== undefined) {
    return [{ name: "redis", ports: [], start: (context) => useGiven({ url: givenUrl, context }) }];
  }
  return (["redis", "redis-faucet"] as const).map((name) => ({
    name,
    ports: [],
    start: (context) => startOwn({ name, context }),
  }));
}

async function useGiven({
  url,
  context,
}: {
  url: string;
  context: ServiceContext;
}): Promise<StartedService | { failed: string }> {
  const shown = withoutPassword(url);
  const answer = await askRedis(url);
  if ("failed" in answer)
    return { failed: `REDIS_URL names ${shown}, which does not answer: ${answer.failed}` };
  context.say(`REDIS_URL is set: ${shown} is used, and no Redis is started.`);
  Object.assign(context.addresses, { redis: url, faucetRedis: url });
  return { rows: [{ name: "redis", address: shown, data: "its own (REDIS_URL)" }] };
}

async function startOwn({
  name,
  context,
}: {
  name: "redis" | "redis-faucet";
  context: ServiceContext;
}): Promise<StartedService | { failed: string }> {
  const { env, data, childLine, adopt, onStop } = context;
  const isOfFaucet = name === "redis-faucet";
  const { folder, urlFile } = isOfFaucet ? data.faucetRedis : data.redis;
  const found = await findRedis({
    env,
    onLine: childLine,
    onChild: (child) => onStop(async () => void (await child.stop({ withinMs: installEndWithinMs }))),
  });
  if ("missing" in found) return { failed: found.missing };
  const redis = await startRedis({
    name,
    program: found.program,
    env,
    folder,
    appendfsync: isOfFaucet ? "always" : "everysec",
    onLine: (line) => {
      if (tells(line)) childLine(name, line);
    },
    onChild: (child) => adopt(child, { endWithinMs }),
  });
  if ("failed" in redis) return redis;
  // Where `npm run keys` and `npm run faucet` look for the Redis of a running npm start.
  await writeFile(urlFile, `${redis.url}\n`);
  onStop(() => rm(urlFile, { force: true }));
  context.addresses[isOfFaucet ? "faucetRedis" : "redis"] = redis.url;
  return { rows: [{ name, address: redis.url, data: folder }], child: redis.child };
}

/** Redis warns of its own start and end, and of a kernel setting that only large ones need: these lines are left out. */
function tells(line: string): boolean {
  return !/oO0OoO|Redis version=|Configuration loaded|Server initialized|overcommit|requested shutdown|SIGTERM|bye bye/.test(
    line,
  );
}

function withoutPassword(url: string): string {
  const parsed = new URL(url);
  if (parsed.password !== "") parsed.password = "***";
  return parsed.href;
}
