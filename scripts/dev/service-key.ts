import { readFile, writeFile } from "node:fs/promises";
import { Redis } from "ioredis";
import { hashApiKey, type Profile } from "../../lib/keys/api-key.ts";
import { createKeyStore } from "../../lib/keys/key-store.ts";

const team = "api";
/** Far above a partner's: an index that begins anew asks for the whole chain. */
const limitPerMinute = 10_000_000;

/**
 * The key with which the API asks the gateway: the one of an earlier start where Redis still knows it, else a new one of
 * a team of its own, kept in `file`, which nobody else can read.
 * @throws Error where Redis does not answer or takes no more keys.
 */
export async function ensureServiceKey({
  redisUrl,
  file,
  profile,
}: {
  redisUrl: string;
  file: string;
  profile: Profile;
}): Promise<string> {
  const redis = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 1 });
  try {
    await redis.connect();
    const store = createKeyStore({ redis });
    const kept = (await readFile(file, "utf8").catch(() => "")).trim();
    const known = kept === "" ? undefined : await store.find(hashApiKey(kept));
    if (known !== undefined && known.profile === profile && known.revokedAtMs === undefined) return kept;
    await store.setTeam({ name: team, limitPerMinute });
    const made = await store.create({
      team,
      label: "npm start's API",
      permissions: ["rpc", "explorer"],
      qa: false,
      profile,
    });
    if (made.outcome !== "created") throw new Error(`no key can be made for the API: ${made.outcome}`);
    await writeFile(file, `${made.secret}\n`, { mode: 0o600 });
    return made.secret;
  } finally {
    redis.disconnect();
  }
}
