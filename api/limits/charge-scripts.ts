import { defineScript } from "../../lib/redis/run-script.ts";

/**
 * Takes `ARGV[1]` points of a window of `ARGV[3]` ms, of which a client has `ARGV[2]`; a request that would need more takes
 * nothing. Returns 1 or 0 for taken or not, what is used, and the time until the window ends in ms.
 */
export const chargeScript = defineScript(`
local used = tonumber(redis.call('get', KEYS[1]) or '0')
local cost = tonumber(ARGV[1])
local leftMs = redis.call('pttl', KEYS[1])
local taken = 0
if used + cost <= tonumber(ARGV[2]) then
  taken = 1
  used = redis.call('incrby', KEYS[1], cost)
end
if leftMs < 0 then
  leftMs = tonumber(ARGV[3])
  if taken == 1 then redis.call('pexpire', KEYS[1], leftMs) end
end
return {taken, used, leftMs}
`);

/**
 * Gives `ARGV[1]` points back, where the window in which they were taken is still there: a window that begins later ends
 * later than `ARGV[2]` ms from now.
 */
export const refundScript = defineScript(`
local leftMs = redis.call('pttl', KEYS[1])
if leftMs < 0 or leftMs > tonumber(ARGV[2]) then return 0 end
if tonumber(redis.call('get', KEYS[1])) < tonumber(ARGV[1]) then return 0 end
redis.call('decrby', KEYS[1], ARGV[1])
return 1
`);
