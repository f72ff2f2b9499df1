import { defineScript } from "../../lib/redis/run-script.ts";

/** Redis's time in milliseconds, unless a test gives another. */
export const luaNowMs = `
local function nowMs(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
`;

/**
 * Idempotency, limits and the claim in one step.
 *
 * KEYS claim, queue, open, paused, nonce, idempotency, limit of the address, of the scope, of all, claim by its earlier id.
 * ARGV now, window, most an address, most a scope, most over all, most that wait, claims that the wallet can pay,
 * lifetime of the idempotency key (0: none was sent), fingerprint, id, earlier id, then names and values of the record.
 *
 * Answers {outcome, detail, waitMs, standing of the address, of the scope}, where a standing is {claims that count,
 * milliseconds until one less counts}. Outcomes: accepted; repeated (detail: the first claim's id); reused, paused, starting,
 * full, empty; limited (detail: which limit; waitMs: until there is room). Nothing changes unless it is 'accepted'.
 */
export const admitScript = defineScript(`${luaNowMs}
local now, window = nowMs(ARGV[1]), tonumber(ARGV[2])
local most = {tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])}
local waitMax, affordable, keyMs = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local fingerprint, id, earlierId = ARGV[9], ARGV[10], ARGV[11]
local names = {'address', 'scope', 'all'}

local function standing(key)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  return {redis.call('ZCARD', key), oldest and tonumber(oldest) - now or window}
end
local function answer(outcome, detail, waitMs)
  return {outcome, detail or '', waitMs or 0, standing(KEYS[7]), standing(KEYS[8])}
end

if keyMs > 0 then
  local seen = redis.call('GET', KEYS[6])
  if seen then
    local first, firstId = seen:match('^(%S+) (%S+)$')
    if first ~= fingerprint then return answer('reused') end
    return answer('repeated', firstId)
  end
  -- Redis may have lost the key alone, and have the claim again from the chain.
  for _, found in ipairs({{KEYS[1], id}, {KEYS[10], earlierId}}) do
    local createdAtMs = tonumber(redis.call('HGET', found[1], 'createdAtMs') or 0)
    local leftMs = createdAtMs + keyMs - now
    if leftMs > 0 then
      redis.call('SET', KEYS[6], fingerprint .. ' ' .. found[2], 'PX', string.format('%.0f', math.min(leftMs, keyMs)))
      return answer('repeated', found[2])
    end
  end
end
if redis.call('EXISTS', KEYS[4]) == 1 then return answer('paused') end
if redis.call('EXISTS', KEYS[5]) == 0 then return answer('starting') end
local waiting = redis.call('LLEN', KEYS[2])
if waiting + redis.call('ZCARD', KEYS[3]) >= affordable then return answer('empty') end
for index = 1, 3 do
  local key = KEYS[6 + index]
  local count = standing(key)[1]
  if count >= most[index] then
    local roomAtMs = redis.call('ZRANGE', key, count - most[index], count - most[index], 'WITHSCORES')[2]
    return answer('limited', names[index], tonumber(roomAtMs) - now)
  end
end
if waiting >= waitMax then return answer('full') end

for index = 7, 9 do
  redis.call('ZADD', KEYS[index], now + window, id)
  redis.call('PEXPIRE', KEYS[index], window)
end
redis.call('HSET', KEYS[1], 'id', id, 'status', 'received', 'createdAtMs', string.format('%.0f', now), unpack(ARGV, 12))
redis.call('RPUSH', KEYS[2], id)
if keyMs > 0 then redis.call('SET', KEYS[6], fingerprint .. ' ' .. id, 'PX', keyMs) end
return answer('accepted')
`);
