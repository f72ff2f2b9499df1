import { defineScript } from "../../lib/redis/run-script.ts";

/**
 * Takes a validator for one trace. KEYS: running, calls, the key's strikes. ARGV: token, key's id, fingerprint, lifetime in
 * ms, how many validators are spared, strikes allowed, then the healthy validators, best first.
 *
 * A field of `running` is a validator, its value `token key endsAtMs`. A gateway that dies leaves fields that end by
 * themselves. A key has one trace at most, and the spared number of healthy validators has none.
 */
export const takeSlot = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('ZSCORE', KEYS[2], ARGV[3]) or 0) > now then return 'deadly' end
if tonumber(redis.call('GET', KEYS[3]) or 0) >= tonumber(ARGV[6]) then return 'struck' end
local taken = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local key, ends = string.match(all[at + 1], '^%S+ (%S+) (%d+)$')
  if not ends or tonumber(ends) <= now then
    redis.call('HDEL', KEYS[1], all[at])
  else
    if key == ARGV[2] then return 'busy' end
    taken[all[at]] = true
  end
end
local free, chosen = 0, nil
for at = 7, #ARGV do
  if not taken[ARGV[at]] then
    free = free + 1
    chosen = chosen or ARGV[at]
  end
end
if free <= tonumber(ARGV[5]) then return 'busy' end
redis.call('HSET', KEYS[1], chosen, ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. (now + ARGV[4]))
redis.call('PEXPIRE', KEYS[1], 86400000)
return '=' .. chosen
`);

/** Gives a validator back. KEYS: running. ARGV: validator, token. */
export const giveSlot = defineScript(`
local value = redis.call('HGET', KEYS[1], ARGV[1])
if value and string.sub(value, 1, #ARGV[2] + 1) == ARGV[2] .. ' ' then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 1
`);

/**
 * Notes a call that ended a validator. KEYS: calls, the key's strikes. ARGV: fingerprint, how long in ms, how many calls are
 * kept, 1 where it counts as a strike of the key.
 */
export const noteDeadly = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if ARGV[4] == '1' then
  redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
return 1
`);

/** The calls that are refused now. KEYS: calls. Returns fingerprints and the milliseconds that are left, in turn. */
export const readDeadly = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], now, '+inf', 'WITHSCORES')
for at = 2, #found, 2 do found[at] = tostring(math.floor(found[at] - now)) end
return found
`);
