import {
  keyChangesChannel,
  keyHistoryKey,
  keyIdsKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { runScript } from "../redis/run-script.ts";
import { checkApiKey, createKeyId, hashApiKey, type Profile } from "./api-key.ts";
import {
  type KeyRecord,
  keyRecordToFields,
  keySettingsSchema,
  type Permission,
  timeMsSchema,
} from "./key-record.ts";
import { seedScript, unseedScript } from "./key-scripts.ts";

/** A key as a development configuration holds it, with its secret in the open. */
export type SeedKey = {
  secret: string;
  label: string;
  team: string;
  permissions: Permission[];
  limitPerMinute?: number | undefined;
  origins?: string[] | undefined;
  qa?: boolean | undefined;
  expiresAtMs?: number | undefined;
};

/** How many keys were made or corrected, were right, were left alone because others made them, were taken out. */
export type SeedResult = { seeded: number; unchanged: number; kept: number; removed: number };

/**
 * Makes Redis hold exactly the keys of a development configuration, beside those that operators made. Each key is one script, so
 * gateways that start together do not get into each other's way. A key that was revoked stays revoked.
 *
 * Production has no such keys: it throws where there are any, and leaves those of a development gateway that shares
 * the Redis alone, since `keyRefusal` refuses them. Throws also for a key of our form that is mistyped (a gateway would
 * refuse it before it asks Redis), and a ZodError for settings that no key can have.
 */
export async function seedKeys({
  redis,
  keys,
  profile,
  before,
  nowMs,
  keysMax,
  randomBytes,
}: {
  redis: RedisClient;
  keys: readonly SeedKey[];
  profile: Profile;
  /** Records of earlier seeds. */
  before: readonly KeyRecord[];
  nowMs: number;
  keysMax: number;
  randomBytes?: (size: number) => Uint8Array;
}): Promise<SeedResult> {
  const result: SeedResult = { seeded: 0, unchanged: 0, kept: 0, removed: 0 };
  if (profile === "production") {
    if (keys.length > 0)
      throw new Error("keys in a configuration are for development: production refuses them");
    return result;
  }
  // All are read before the first is written: a configuration with a mistake changes nothing.
  const wanted = keys.map(readSeed);
  for (const { hash, team, fields } of wanted) {
    const outcome = await runScript({
      redis,
      script: seedScript,
      keys: [keyRecordKey(hash), keyIdsKey, keyTeamsKey, keyVersionKey, keyHistoryKey],
      args: [
        keyChangesChannel,
        hash,
        createKeyId(randomBytes === undefined ? {} : { randomBytes }),
        nowMs,
        team,
        JSON.stringify({ name: team }),
        keysMax,
        ...Object.entries(fields).flat(),
      ],
    });
    if (outcome !== "seeded" && outcome !== "unchanged" && outcome !== "kept") {
      throw new Error(`the configured key of team ${team} cannot be put into Redis: ${String(outcome)}`);
    }
    result[outcome] += 1;
  }
  const hashes = new Set(wanted.map(({ hash }) => hash));
  for (const { hash } of before) {
    if (hashes.has(hash)) continue;
    const outcome = await runScript({
      redis,
      script: unseedScript,
      keys: [keyRecordKey(hash), keyIdsKey, keyVersionKey, keyHistoryKey],
      args: [keyChangesChannel, hash],
    });
    if (outcome === "removed") result.removed += 1;
  }
  return result;
}

function readSeed({ secret, label, team, permissions, limitPerMinute, origins, qa, expiresAtMs }: SeedKey) {
  if (checkApiKey(secret) === "mistyped") {
    throw new Error(`the configured key "${label}" is mistyped: its checksum does not match`);
  }
  const settings = keySettingsSchema.parse({
    team,
    label,
    permissions,
    qa: qa ?? false,
    ...(limitPerMinute === undefined ? {} : { limitPerMinute }),
    ...(origins === undefined ? {} : { origins }),
  });
  // What a configuration may set on one start and not on the next is named in any case.
  const fields = {
    limitPerMinute: "",
    origins: "",
    expiresAtMs: "",
    ...keyRecordToFields({
      ...settings,
      ...(expiresAtMs === undefined ? {} : { expiresAtMs: timeMsSchema.parse(expiresAtMs) }),
    }),
  };
  return { hash: hashApiKey(secret), team, fields };
}
