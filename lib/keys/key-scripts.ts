import { defineScript } from "../redis/run-script.ts";

/**
 * The scripts of the key store. Each makes one change as a whole: the record, the index of ids, the version and the message
 * to the gateways. All keys that a script touches are among its KEYS and share the tag `{keys}`.
 *
 * Commands are those of Redis 7.0, so that Valkey runs the same text.
 */

/**
 * Counts the version up and publishes what changed: `kind` is 'hash' or 'team'. The last two KEYS of a script that
 * announces are the version and the history, which begins with the first version.
 */
export const announce = `
local function announce(channel, kind, name)
  local versionKey, historyKey = KEYS[#KEYS - 1], KEYS[#KEYS]
  if redis.call('EXISTS', versionKey) == 0 then
    local time = redis.call('TIME')
    local begunAt = time[1] .. string.format('%06d', time[2])
    redis.call('SET', versionKey, begunAt)
    redis.call('SET', historyKey, begunAt)
  end
  local version = string.format('%.0f', redis.call('INCR', versionKey))
  redis.call('PUBLISH', channel, '{"version":' .. version .. ',"' .. kind .. '":"' .. name .. '"}')
end
`;

/**
 * KEYS record, teams, version, history, lost. Answers {fields of the record or false, settings of its team or false,
 * Redis's time in milliseconds, version, history, lost}: what is not there is told apart from what is there no more.
 * Expiry is judged by Redis's clock, so that a gateway whose clock is wrong serves the same keys as its neighbours.
 */
export const findScript = defineScript(
  `
local state = redis.call('MGET', KEYS[3], KEYS[4], KEYS[5])
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return {false, false, false, state[1], state[2], state[3]} end
local team = redis.call('HGET', KEYS[1], 'team')
local time = redis.call('TIME')
local settings = team and redis.call('HGET', KEYS[2], team)
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
return {fields, settings, now, state[1], state[2], state[3]}
`,
  { readsOnly: true },
);

/**
 * KEYS record, ids, teams, version, history. ARGV channel, hash, id, team, records at most, then names and values of the record.
 * Changes nothing unless it answers 'created'.
 */
export const createScript = defineScript(`${announce}
if redis.call('EXISTS', KEYS[1]) == 1 then return 'duplicateHash' end
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 then return 'duplicateId' end
if redis.call('HEXISTS', KEYS[3], ARGV[4]) == 0 then return 'unknownTeam' end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return 'tooMany' end
redis.call('HSET', KEYS[1], unpack(ARGV, 6))
redis.call('HSET', KEYS[2], ARGV[3], ARGV[2])
announce(ARGV[1], 'hash', ARGV[2])
return 'created'
`);

/**
 * KEYS record, new record, ids, version, history. ARGV channel, hash, new hash, new id, now, end of the overlap, expiry of the
 * new key or '' for that of the old one, records at most. The new record is the old one but for what names the key.
 * Answers {'rotated', fields of the new record, fields of the old one}, {'alreadyRotated', id}, or {the reason}: the
 * records come in the same answer, because a secret whose record could not be read afterwards would be lost.
 */
export const rotateScript = defineScript(`${announce}
local channel, hash, newHash, newId, now, overlapEnd, newExpiry, recordsMax = unpack(ARGV)
local id, rotatedTo, revokedAt, expiresAt =
  unpack(redis.call('HMGET', KEYS[1], 'id', 'rotatedTo', 'revokedAtMs', 'expiresAtMs'))
if not id then return {'unknown'} end
if revokedAt then return {'revoked'} end
if rotatedTo then return {'alreadyRotated', rotatedTo} end
if expiresAt and tonumber(expiresAt) <= tonumber(now) then return {'expired'} end
if redis.call('EXISTS', KEYS[2]) == 1 then return {'duplicateHash'} end
if redis.call('HEXISTS', KEYS[3], newId) == 1 then return {'duplicateId'} end
if redis.call('HLEN', KEYS[3]) >= tonumber(recordsMax) then return {'tooMany'} end
local endsByOverlap = not expiresAt or tonumber(overlapEnd) < tonumber(expiresAt)
redis.call('HSET', KEYS[2], unpack(redis.call('HGETALL', KEYS[1])))
redis.call('HDEL', KEYS[2], 'seededFor')
redis.call('HSET', KEYS[2], 'id', newId, 'createdAtMs', now, 'rotatedFrom', id)
if newExpiry ~= '' then redis.call('HSET', KEYS[2], 'expiresAtMs', newExpiry) end
redis.call('HSET', KEYS[3], newId, newHash)
redis.call('HSET', KEYS[1], 'rotatedTo', newId)
if endsByOverlap then redis.call('HSET', KEYS[1], 'expiresAtMs', overlapEnd) end
announce(channel, 'hash', newHash)
announce(channel, 'hash', hash)
return {'rotated', redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[1])}
`);

/** KEYS record, version, history. ARGV channel, hash, now. The first revocation's time stays. */
export const revokeScript = defineScript(`${announce}
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
if redis.call('HSETNX', KEYS[1], 'revokedAtMs', ARGV[3]) == 0 then return 'alreadyRevoked' end
announce(ARGV[1], 'hash', ARGV[2])
return 'revoked'
`);

/**
 * KEYS teams, version, history. ARGV channel, name, settings as they were read ('' for none), new settings, teams at most.
 * Answers 'conflict' where somebody else has changed the team since it was read.
 */
export const setTeamScript = defineScript(`${announce}
local channel, name, before, after, teamsMax = unpack(ARGV)
local stored = redis.call('HGET', KEYS[1], name)
if (stored or '') ~= before then return 'conflict' end
if stored == after then return 'unchanged' end
if not stored and redis.call('HLEN', KEYS[1]) >= tonumber(teamsMax) then return 'tooMany' end
redis.call('HSET', KEYS[1], name, after)
announce(channel, 'team', name)
return stored and 'changed' or 'created'
`);

/**
 * Makes or corrects the record of a key out of a development configuration. KEYS record, ids, teams, version, history.
 * ARGV channel, hash, new id, now, team, settings of a new team, records at most, then names and values of what the
 * configuration sets ('' where it sets nothing). A revocation stays, and so does the end of a rotation's overlap.
 * A record that an operator made is left as it is.
 */
export const seedScript = defineScript(`${announce}
local channel, hash, newId, now, team, teamSettings, recordsMax = unpack(ARGV, 1, 7)
if redis.call('EXISTS', KEYS[1]) == 0 then
  if redis.call('HLEN', KEYS[2]) >= tonumber(recordsMax) then return 'tooMany' end
  redis.call('HSET', KEYS[1], 'id', newId, 'createdAtMs', now, 'profile', 'development', 'seededFor', 'development')
  redis.call('HSET', KEYS[2], newId, hash)
elseif redis.call('HEXISTS', KEYS[1], 'seededFor') == 0 then
  return 'kept'
end
if redis.call('HSETNX', KEYS[3], team, teamSettings) == 1 then announce(channel, 'team', team) end
local rotated = redis.call('HEXISTS', KEYS[1], 'rotatedTo') == 1
local changed = false
for index = 8, #ARGV, 2 do
  local name, value = ARGV[index], ARGV[index + 1]
  local fixed = rotated and name == 'expiresAtMs'
  if not fixed and (redis.call('HGET', KEYS[1], name) or '') ~= value then
    changed = true
    if value == '' then redis.call('HDEL', KEYS[1], name) else redis.call('HSET', KEYS[1], name, value) end
  end
end
if not changed then return 'unchanged' end
announce(channel, 'hash', hash)
return 'seeded'
`);

/** KEYS record, ids, version, history. ARGV channel, hash. Takes out a seeded key, and no other. */
export const unseedScript = defineScript(`${announce}
local id, seededFor = unpack(redis.call('HMGET', KEYS[1], 'id', 'seededFor'))
if not seededFor then return 'kept' end
redis.call('DEL', KEYS[1])
redis.call('HDEL', KEYS[2], id)
announce(ARGV[1], 'hash', ARGV[2])
return 'removed'
`);
