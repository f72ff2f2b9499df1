import {
  faucetChainKey,
  faucetClaimKey,
  faucetLeaderKey,
  faucetLimitKey,
  faucetNonceKey,
  faucetOpenKey,
  faucetPaidKey,
  faucetQueueKey,
  faucetWalletKey,
} from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { defineScript, runScript } from "../../lib/redis/run-script.ts";
import { parseClaim } from "./claim.ts";

/** KEYS claim, queue, open, limits of address, scope and all. ARGV id, reason, lifetime of the record. */
const forgetScript = defineScript(`
local id, reason, keptMs = unpack(ARGV)
local status = redis.call('HGET', KEYS[1], 'status')
for index = 4, 6 do redis.call('ZREM', KEYS[index], id) end
redis.call('LREM', KEYS[2], 0, id)
redis.call('ZREM', KEYS[3], id)
if status and status ~= 'confirmed' and status ~= 'refused' then
  redis.call('HSET', KEYS[1], 'status', 'refused', 'reason', reason)
  redis.call('PEXPIRE', KEYS[1], keptMs)
end
return 'done'
`);

/**
 * Lets Redis forget the network that it belongs to. Open claims end, because their transactions belong to the old network. No
 * claim counts in a limit any more, because its tokens are gone. Nonce and wallet are found anew. It may be cut short and
 * repeated. No other replica may run meanwhile.
 */
export async function adoptChain({
  redis,
  recordsKeptMs,
}: {
  redis: RedisClient;
  recordsKeptMs: number;
}): Promise<{ claims: number }> {
  const ids = new Set([
    ...(await redis.lrange(faucetQueueKey, 0, -1)),
    ...(await redis.zrange(faucetOpenKey, "0", "-1")),
    ...(await redis.zrange(faucetLimitKey("all"), "0", "-1")),
  ]);
  for (const id of ids) {
    const claim = parseClaim(await redis.hgetall(faucetClaimKey(id)));
    const scopes = [`address:${claim?.address.toLowerCase() ?? ""}`, claim?.scope ?? "", "all"];
    await runScript({
      redis,
      script: forgetScript,
      keys: [faucetClaimKey(id), faucetQueueKey, faucetOpenKey, ...scopes.map(faucetLimitKey)],
      args: [id, "The network was replaced before the claim was paid", recordsKeptMs],
    });
  }
  await redis.del(faucetNonceKey, faucetPaidKey, faucetWalletKey, faucetLeaderKey, faucetChainKey);
  return { claims: ids.size };
}
