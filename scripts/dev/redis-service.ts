import { rm, writeFile } from "node:fs/promises";
import { findRedis } from "./find-redis.ts";
import type { Service, ServiceContext, StartedService } from "./service.ts";
import { askRedis, startRedis } from "./start-redis.ts";

const endWithinMs = 2000;
/** Packages that are being unpacked are better not broken off. */
const installEndWithinMs = 8000;

/** A private Redis on a free port with its data in `.data`, or the one that `REDIS_URL` names. */
export function redisService({ givenUrl }: { givenUrl: string | undefined }): Service {
  return {
    name: "redis",
    ports: [],
    start: (context) => (givenUrl === undefined ? startOwn(context) : useGiven({ url: givenUrl, context })),
  };
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
  context.addresses.redis = url;
  return { rows: [{ name: "redis", address: shown, data: "its own (REDIS_URL)" }] };
}

async function startOwn(context: ServiceContext): Promise<StartedService | { failed: string }> {
  const { env, data, childLine, adopt, onStop } = context;
  const found = await findRedis({
    env,
    onLine: childLine,
    onChild: (child) => onStop(async () => void (await child.stop({ withinMs: installEndWithinMs }))),
  });
  if ("missing" in found) return { failed: found.missing };
  const folder = data.redis;
  const redis = await startRedis({
    program: found.program,
    env,
    folder,
    onLine: (line) => {
      if (tells(line)) childLine("redis", line);
    },
    onChild: (child) => adopt(child, { endWithinMs }),
  });
  if ("failed" in redis) return redis;
  // Where `npm run keys` looks for the Redis of a running npm start.
  await writeFile(data.redisUrlFile, `${redis.url}\n`);
  onStop(() => rm(data.redisUrlFile, { force: true }));
  context.addresses.redis = redis.url;
  return { rows: [{ name: "redis", address: redis.url, data: folder }], child: redis.child };
}

/** Redis tells as a warning what is none to who runs it here: its start and end, and a kernel setting for large ones. */
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
