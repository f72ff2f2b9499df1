import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { compareVersions, productVersion } from "../version.ts";
import { type RedisClient, waitForRedis } from "./redis-client.ts";
import { isRedisFailure } from "./redis-failure.ts";
import { defineScript, runScript } from "./run-script.ts";

/** A change of the shape of what Redis holds. */
export type RedisMigration = {
  /** `v0.2.0-what-it-does`: the version that brings it, and what it does. */
  name: string;
  /** The oldest version whose processes work with what it leaves. */
  lets: string;
  /**
   * Does one piece, of less than `lockMs`, and answers where the next one begins; undefined after the last. `cursor` is empty for the
   * first. A piece may be done twice, and others read and write meanwhile.
   */
  step(redis: RedisClient, cursor: string): Promise<string | undefined>;
};

export type RedisData = {
  /** What the data is, in words. */
  holds: string;
  dataKey: string;
  lockKey: string;
  /** Oldest first. */
  migrations: readonly RedisMigration[];
};

const underwayField = "underway";
const doneSchema = z.object({ version: z.string(), lets: z.string() });
const underwaySchema = z.object({ name: z.string(), cursor: z.string() });
const pollMs = 200;
const retryMs = 500;

/** KEYS lock. ARGV token, ms. Whether the lock is ours. */
const lockScript = defineScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** KEYS data, lock. ARGV token, ms, name and value to write, and a name to remove. Nothing is written by one that lost the lock. */
const writeScript = defineScript(`
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
redis.call('HDEL', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
`);

/** KEYS lock. ARGV token. */
const unlockScript = defineScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);

/**
 * Carries out the migrations that the data has not had, in order, once Redis answers. Of several processes one does it and the others
 * wait; what a process that ended has begun is gone on with where it was. A Redis that goes away meanwhile is waited for.
 *
 * @returns the names of those that this process finished.
 * @throws RedisDataError where the data is of a newer version that does not let this one, or others take longer than `othersTimeoutMs`.
 */
export async function migrateRedisData(options: {
  redis: RedisClient;
  data: RedisData;
  logger: Pick<Logger, "info" | "warn">;
  /** Of the running code. */
  version?: string;
  /** What a process that ended has begun is taken over after so long. */
  lockMs?: number;
  othersTimeoutMs?: number;
}): Promise<string[]> {
  const { redis, data, logger, lockMs = 10_000, othersTimeoutMs = 600_000 } = options;
  const token = randomUUID();
  const finished: string[] = [];
  const giveUpAtMs = performance.now() + othersTimeoutMs;
  const withVersion = { redis, data, logger, lockMs, token, version: options.version ?? productVersion };
  for (let waits = false; ; ) {
    await waitForRedis({ redis, logger });
    try {
      const [due] = await dueOf(withVersion);
      if (due === undefined) {
        if (finished.length > 0)
          await runScript({ redis, script: unlockScript, keys: [data.lockKey], args: [token] });
        return finished;
      }
      if (await takeLock(withVersion)) {
        if (await carryOut({ ...withVersion, migration: due })) finished.push(due.name);
        continue;
      }
      if (!waits)
        logger.info({ migration: due.name }, "waiting for another process to migrate what Redis holds");
      waits = true;
    } catch (error) {
      if (!isRedisFailure(error) || (error instanceof Error && error.name === "ReplyError")) throw error;
      logger.warn({ err: error }, "Redis went away while its data was looked at; trying again");
      await sleep(retryMs);
      continue;
    }
    if (performance.now() > giveUpAtMs) {
      throw new RedisDataError(`another process has been migrating ${data.holds} for ${othersTimeoutMs} ms`);
    }
    await sleep(pollMs);
  }
}

/**
 * Looks whether this version may work with the data. Changes nothing.
 * @throws RedisDataError where the data is of a newer version that does not let this one.
 */
export async function checkRedisData({
  version = productVersion,
  ...options
}: {
  redis: RedisClient;
  data: RedisData;
  version?: string;
}): Promise<void> {
  await dueOf({ ...options, version, logger: { warn: () => {} } });
}

async function takeLock({
  redis,
  data,
  token,
  lockMs,
}: {
  redis: RedisClient;
  data: RedisData;
  token: string;
  lockMs: number;
}): Promise<boolean> {
  return (await runScript({ redis, script: lockScript, keys: [data.lockKey], args: [token, lockMs] })) === 1;
}

async function dueOf({
  redis,
  data: { dataKey, holds, migrations },
  version,
  logger,
}: {
  redis: RedisClient;
  data: RedisData;
  version: string;
  logger: Pick<Logger, "warn">;
}): Promise<RedisMigration[]> {
  const done = await redis.hgetall(dataKey);
  const known = new Set(migrations.map(({ name }) => name));
  for (const [name, text] of Object.entries(done)) {
    if (name === underwayField || known.has(name)) continue;
    const { version: its, lets } = doneSchema.parse(JSON.parse(text));
    if (compareVersions(version, lets) < 0) {
      throw new RedisDataError(
        `${holds} in Redis are of version ${its} (${name}), which lets no version before ${lets} go on, and this is ${version}: ` +
          `start the newer version (docker/RUNBOOK.md, chapter "Upgrade one by one")`,
      );
    }
    logger.warn(
      { data: its, migration: name, version },
      "what Redis holds is of a newer version, which lets this one go on",
    );
  }
  return migrations.filter(({ name }) => done[name] === undefined);
}

/** @returns false where the lock went to another process meanwhile, which goes on. */
async function carryOut({
  redis,
  data: { dataKey, lockKey },
  migration: { name, lets, step },
  token,
  lockMs,
  version,
  logger,
}: {
  redis: RedisClient;
  data: RedisData;
  migration: RedisMigration;
  token: string;
  lockMs: number;
  version: string;
  logger: Pick<Logger, "info">;
}): Promise<boolean> {
  const write = async (field: string, value: object, gone: string) =>
    (await runScript({
      redis,
      script: writeScript,
      keys: [dataKey, lockKey],
      args: [token, lockMs, field, JSON.stringify(value), gone],
    })) === 1;
  const startMs = performance.now();
  for (let cursor = await begunAt(redis, dataKey, name); ; ) {
    const next = await step(redis, cursor);
    if (next === undefined) break;
    if (!(await write(underwayField, { name, cursor: next }, ""))) return false;
    cursor = next;
  }
  const done = { version: versionOf(name), lets, by: version, atMs: Date.now() };
  if (!(await write(name, done, underwayField))) return false;
  logger.info(
    { migration: name, tookMs: Math.round(performance.now() - startMs) },
    "migrated what Redis holds",
  );
  return true;
}

async function begunAt(redis: RedisClient, dataKey: string, name: string): Promise<string> {
  const text = await redis.hget(dataKey, underwayField);
  const underway = text === null ? undefined : underwaySchema.parse(JSON.parse(text));
  return underway?.name === name ? underway.cursor : "";
}

function versionOf(name: string): string {
  const version = /^v(\d+\.\d+\.\d+)-[a-z0-9-]+$/.exec(name)?.[1];
  if (version === undefined)
    throw new Error(`a migration of Redis's data is named v0.2.0-what-it-does, not ${name}`);
  return version;
}

/** What Redis holds cannot be worked with by this version. Nothing was changed. */
export class RedisDataError extends Error {
  override readonly name = "RedisDataError";
}
