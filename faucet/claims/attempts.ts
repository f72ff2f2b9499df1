import { z } from "zod";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { faucetRefusalsKey } from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { defineScript, runScript } from "../../lib/redis/run-script.ts";
import type { ClaimScope } from "./admission.ts";

export type Attempts = ReturnType<typeof createAttempts>;

/** KEYS counter. ARGV most, window in ms. Answers 0, or the milliseconds until there is room again. */
const beginScript = defineScript(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if count <= tonumber(ARGV[1]) then return 0 end
redis.call('DECR', KEYS[1])
return math.max(1, redis.call('PTTL', KEYS[1]))
`);

/** KEYS counter. The window may have ended since. */
const giveBackScript = defineScript(`
if tonumber(redis.call('GET', KEYS[1]) or 0) > 0 then redis.call('DECR', KEYS[1]) end
return 0
`);

/**
 * How often a client or a team may be refused in a window. Without this bound a client could try one address after the other
 * and read the allowlist out of the answers. An attempt counts from its beginning, so that many at once do not pass the
 * bound. It is given back if the claim is accepted or the faucet itself cannot take it.
 */
export function createAttempts({
  redis,
  limits,
}: {
  redis: RedisClient;
  /** Most in a window, read for each attempt; a window that has begun keeps its length. */
  limits: { readonly refusals: number; readonly refusalsWindowMs: number };
}) {
  return {
    async begin({ kind, name }: ClaimScope): Promise<{ giveBack(): Promise<void> } | Refusal> {
      const keys = [faucetRefusalsKey(`${kind}:${name}`)];
      const { refusals, refusalsWindowMs } = limits;
      const waitMs = z
        .number()
        .parse(await runScript({ redis, script: beginScript, keys, args: [refusals, refusalsWindowMs] }));
      if (waitMs > 0)
        return refusal("rate_limited", texts[kind], { reason: "refused_often", retryAfterMs: waitMs });
      return {
        async giveBack() {
          // If Redis is gone by now, the counter ends by itself in a minute.
          await runScript({ redis, script: giveBackScript, keys, args: [] }).catch(() => {});
        },
      };
    },
  };
}

const texts = {
  client:
    "Too many claims from your network address were refused; Retry-After tells when the next is possible",
  team: "Too many claims of the team were refused; Retry-After tells when the next is possible",
};
