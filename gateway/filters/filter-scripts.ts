import { defineScript } from "../../lib/redis/run-script.ts";

/*
 * The index names a filter as `<id>:<bytes of its criteria>`, so that the bytes of a key's filters are counted without
 * reading each.
 *
 * KEYS[1] is the index of a key's filters, KEYS[2] one filter's row: one hash tag (lib/redis/keys/gateway.ts). ARGV[1] is the
 * filter's id, ARGV[2] how many milliseconds it lives after its last use. Time is Redis's own.
 */
const opening = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function use(bytes)
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1] .. ':' .. bytes)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
`;

/**
 * ARGV: id, lifetime, filters that the key may have, bytes of criteria that they may take, bytes of these, then the row.
 * 1; 0 where the key has as many filters as it may, -1 where they would take more bytes.
 */
export const createScript = defineScript(`${opening}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
local bytes = tonumber(ARGV[5])
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  bytes = bytes + tonumber(string.match(member, ':(%d+)$') or 0)
end
if bytes > tonumber(ARGV[4]) then return -1 end
redis.call('HSET', KEYS[2], unpack(ARGV, 6))
use(ARGV[5])
return 1
`);

/** Counts as a use. Returns the row's kind, criteria and cursor; nothing for a filter that is not there. */
export const readScript = defineScript(`${opening}
local row = redis.call('HMGET', KEYS[2], 'kind', 'criteria', 'cursor')
if not row[1] then return false end
use(#row[2])
return row
`);

/** ARGV: id, lifetime, the cursor as it was read, the next one. 0 where another poll was faster, or the row is gone. */
export const moveScript = defineScript(`
if redis.call('HGET', KEYS[2], 'cursor') ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[2], 'cursor', ARGV[4])
return 1
`);

/** Returns 1; 0 for a filter that is not there. */
export const removeScript = defineScript(`
redis.call('ZREM', KEYS[1], ARGV[1] .. ':' .. redis.call('HSTRLEN', KEYS[2], 'criteria'))
return redis.call('DEL', KEYS[2])
`);
