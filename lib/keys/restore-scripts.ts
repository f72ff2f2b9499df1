import { defineScript } from "../redis/run-script.ts";
import { announce } from "./key-scripts.ts";

/** Scripts that bring lost keys back, as those of `key-scripts.ts` make and change them. */

/**
 * Says that what Redis holds is meant: begins a history later than any that is known of, here or to the caller. KEYS
 * lost, version, history. ARGV channel, a number that the new version must lie above. Answers the new version.
 */
export const confirmScript = defineScript(`
local channel, above = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local begunAt = time[1] .. string.format('%06d', time[2])
local function raise(text)
  -- The clock of this Redis may be behind that of the one before.
  local other = tonumber(text or '0')
  if other and other >= tonumber(begunAt) then begunAt = string.format('%.0f', other + 1) end
end
raise(above)
raise(redis.call('GET', KEYS[2]) or '0')
raise(string.match(redis.call('GET', KEYS[3]) or '0', '^%d+'))
for number in string.gmatch(redis.call('GET', KEYS[1]) or '', '%d+') do raise(number) end
redis.call('SET', KEYS[2], begunAt)
redis.call('SET', KEYS[3], begunAt .. ' confirmed')
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', channel, '{"version":' .. begunAt .. ',"all":true}')
return begunAt
`);

/**
 * Writes a record out of a backup. KEYS record, ids, version, history. ARGV channel, hash, id, mode, records at most,
 * then names and values of the record. Modes: 'keep' a record that is there, but for an end that the file knows of;
 * 'newer', the file's record holds, but a revocation stays; 'replace', the file's record holds in any case.
 * Answers 'created', 'changed', 'kept' (another record than the file's), 'unchanged', or why not.
 */
export const importKeyScript = defineScript(`${announce}
local channel, hash, id, mode, recordsMax = unpack(ARGV, 1, 5)
local owner = redis.call('HGET', KEYS[2], id)
if owner and owner ~= hash then return 'duplicateId' end
local before = redis.call('HGETALL', KEYS[1])
if #before == 0 then
  if redis.call('HLEN', KEYS[2]) >= tonumber(recordsMax) then return 'tooMany' end
  redis.call('HSET', KEYS[1], unpack(ARGV, 6))
  redis.call('HSET', KEYS[2], id, hash)
  announce(channel, 'hash', hash)
  return 'created'
end
if redis.call('HGET', KEYS[1], 'id') ~= id then return 'duplicateHash' end
local stored, wanted = {}, {}
for index = 1, #before, 2 do stored[before[index]] = before[index + 1] end
for index = 6, #ARGV, 2 do wanted[ARGV[index]] = ARGV[index + 1] end
local target = {}
for name, value in pairs(mode == 'keep' and stored or wanted) do target[name] = value end
if mode == 'keep' then
  target.revokedAtMs = stored.revokedAtMs or wanted.revokedAtMs
  if wanted.rotatedTo and not stored.rotatedTo then
    target.rotatedTo = wanted.rotatedTo
    target.expiresAtMs = wanted.expiresAtMs
  end
elseif mode == 'newer' then
  target.revokedAtMs = wanted.revokedAtMs or stored.revokedAtMs
end
local changed = false
for name in pairs(stored) do
  if target[name] == nil then
    redis.call('HDEL', KEYS[1], name)
    changed = true
  end
end
for name, value in pairs(target) do
  if stored[name] ~= value then
    redis.call('HSET', KEYS[1], name, value)
    changed = true
  end
end
if changed then
  announce(channel, 'hash', hash)
  return 'changed'
end
for name, value in pairs(wanted) do
  if stored[name] ~= value then return 'kept' end
end
for name in pairs(stored) do
  if wanted[name] == nil then return 'kept' end
end
return 'unchanged'
`);
