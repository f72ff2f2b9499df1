import { createHash } from "node:crypto";
import { z } from "zod";
import { faucetAllowlistKey, faucetAllowlistVersionKey } from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { defineScript, runScript } from "../../lib/redis/run-script.ts";
import type { AllowlistEntry } from "./read-allowlist.ts";

export type AllowlistStore = ReturnType<typeof createAllowlistStore>;

/**
 * KEYS list, version. ARGV SHA-256 of the file, the time in milliseconds when it was changed, the list as JSON: address
 * and entry in turn, 1 where the file was seen to change. A list that was copied from a file changed later stays, unless
 * this one was seen to change: a file that is restored from a backup has the time of back then.
 */
const copyScript = defineScript(`
local sha256, changedAtMs = unpack(redis.call('HMGET', KEYS[2], 'sha256', 'changedAtMs'))
if sha256 == ARGV[1] then return 'same' end
local ownMs = ARGV[2]
if changedAtMs and tonumber(changedAtMs) > tonumber(ownMs) then
  if ARGV[4] ~= '1' then return 'older' end
  ownMs = changedAtMs + 1
end
redis.call('DEL', KEYS[1])
for name, value in pairs(cjson.decode(ARGV[3])) do redis.call('HSET', KEYS[1], name, value) end
redis.call('HSET', KEYS[2], 'sha256', ARGV[1], 'changedAtMs', string.format('%.0f', ownMs))
return 'copied'
`);

/** The allowlist in Redis, the one that all replicas go by. */
export function createAllowlistStore({ redis }: { redis: RedisClient }) {
  return {
    /** Where replicas have different files, the one that was changed last counts: `older` says that this is not it. */
    async copy({
      entries,
      fileText,
      changedAtMs,
      wasSeenToChange = false,
    }: {
      entries: readonly AllowlistEntry[];
      fileText: string;
      changedAtMs: number;
      /** It had another content before, and has this one now, whatever its time says. */
      wasSeenToChange?: boolean;
    }): Promise<"copied" | "same" | "older"> {
      const list = Object.fromEntries(
        entries.map(({ address, label, amountWei }) => [
          address.toLowerCase(),
          JSON.stringify({ label, ...(amountWei === undefined ? {} : { amountWei: String(amountWei) }) }),
        ]),
      );
      const sha256 = createHash("sha256").update(fileText).digest("hex");
      return outcomeSchema.parse(
        await runScript({
          redis,
          script: copyScript,
          keys: [faucetAllowlistKey, faucetAllowlistVersionKey],
          args: [sha256, Math.floor(changedAtMs), JSON.stringify(list), wasSeenToChange ? 1 : 0],
        }),
      );
    },

    /** The entry of an address; `undefined` where it is not on the list. */
    async find(address: string): Promise<{ label: string; amountWei?: bigint } | undefined> {
      const text = await redis.hget(faucetAllowlistKey, address.toLowerCase());
      return text === null ? undefined : readEntry(text);
    },

    count: () => redis.hlen(faucetAllowlistKey),
  };
}

const outcomeSchema = z.enum(["copied", "same", "older"]);
const entrySchema = z.object({ label: z.string(), amountWei: z.string().regex(/^\d+$/).optional() });

function readEntry(text: string): { label: string; amountWei?: bigint } {
  const { label, amountWei } = entrySchema.parse(JSON.parse(text));
  return { label, ...(amountWei === undefined ? {} : { amountWei: BigInt(amountWei) }) };
}
