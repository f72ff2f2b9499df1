import { defineScript } from "../../lib/redis/run-script.ts";

/**
 * Charges requests of one client, one after the other: each takes its points (`ARGV[3]` and what follows) of a window of
 * `ARGV[2]` ms, of which the client has `ARGV[1]`; one that would need more takes nothing. Returns the time until the window
 * ends in ms, then for each request 1 or 0 for taken or not, and what is used after it.
 */
export const chargeScript = defineScript(`
local before = tonumber(redis.call('get', KEYS[1]) or '0')
local leftMs = redis.call('pttl', KEYS[1])
local points = tonumber(ARGV[1])
local used = before
local answer = {0}
for at = 3, #ARGV do
  local cost = tonumber(ARGV[at])
  local taken = 0
  if used + cost <= points then
    taken = 1
    used = used + cost
  end
  answer[#answer + 1] = taken
  answer[#answer + 1] = used
end
if used > before then redis.call('incrby', KEYS[1], used - before) end
if leftMs < 0 then
  leftMs = tonumber(ARGV[2])
  if used > before then redis.call('pexpire', KEYS[1], leftMs) end
end
answer[1] = leftMs
return answer
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
