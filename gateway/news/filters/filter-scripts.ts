import { defineScript } from "../../../lib/key-store/run-script.ts";

/*
 * KEYS[1] is the index of a key's filters, KEYS[2] one filter's row: one hash tag (lib/redis-keys.ts). ARGV[1] is the
 * filter's id, ARGV[2] how many milliseconds it lives after its last use. Time is Redis's own.
 */
const opening = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function use()
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
`;

/** ARGV: id, lifetime, filters that the key may have, then the row. 1, or 0 where the key has as many as it may. */
export const createScript = defineScript(`${opening}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], unpack(ARGV, 4))
use()
return 1
`);

/** Counts as a use. The row's kind, criteria and cursor, or nothing where there is none. */
export const readScript = defineScript(`${opening}
local row = redis.call('HMGET', KEYS[2], 'kind', 'criteria', 'cursor')
if not row[1] then return false end
use()
return row
`);

/** ARGV: id, lifetime, the cursor as it was read, the next one. 0 where another poll was faster, or the row is gone. */
export const moveScript = defineScript(`
if redis.call('HGET', KEYS[2], 'cursor') ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[2], 'cursor', ARGV[4])
return 1
`);

/** 1, or 0 where there is none. */
export const removeScript = defineScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
return redis.call('DEL', KEYS[2])
`);
