import { defineScript } from "../../lib/redis/run-script.ts";
import { luaNowMs } from "./admission-script.ts";

/**
 * The changes of the paying replica. Each script first checks its fencing number: KEYS[1] is the leader's key, ARGV[1] the
 * number. A replica that counted as dead and comes back finds another number there and changes nothing.
 */
const fenced = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'not leader' end
`;

/** KEYS leader, last fencing number. ARGV own number or '', lifetime in ms. Answers the number held, or false. */
export const holdScript = defineScript(`
local held = redis.call('GET', KEYS[1])
if held then
  if held ~= ARGV[1] then return false end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return held
end
local time = redis.call('TIME')
local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local fence = string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[2]) or 0) + 1, micros))
redis.call('SET', KEYS[2], fence)
redis.call('SET', KEYS[1], fence, 'PX', ARGV[2])
return fence
`);

/** KEYS leader. ARGV own number. */
export const releaseScript = defineScript(`${fenced}
redis.call('DEL', KEYS[1])
return 'done'
`);

/**
 * The one place where a nonce gets its claim: record, nonce and the set of open claims change together, before anybody
 * has seen the transaction. KEYS leader, claim, queue, open, nonce, paused. ARGV fence, id, nonce, raw, hash.
 */
export const signScript = defineScript(`${fenced}
if redis.call('EXISTS', KEYS[6]) == 1 then return 'paused' end
if redis.call('GET', KEYS[5]) ~= ARGV[3] then return 'nonce taken' end
if redis.call('HGET', KEYS[2], 'status') ~= 'received' then return 'not waiting' end
redis.call('HSET', KEYS[2], 'status', 'signed', 'nonce', ARGV[3], 'raw', ARGV[4], 'txHash', ARGV[5])
redis.call('SET', KEYS[5], string.format('%.0f', tonumber(ARGV[3]) + 1))
redis.call('LREM', KEYS[3], 1, ARGV[2])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[2])
return 'done'
`);

/** KEYS leader, claim. ARGV fence, hash. */
export const broadcastScript = defineScript(`${fenced}
local status, hash = unpack(redis.call('HMGET', KEYS[2], 'status', 'txHash'))
if status == 'signed' and hash == ARGV[2] then redis.call('HSET', KEYS[2], 'status', 'broadcast') end
return 'done'
`);

/**
 * Nodes do not take the claim's transaction: one that pays nobody is broadcast at its nonce instead. KEYS leader, claim.
 * ARGV fence, hash, reason.
 */
export const giveUpScript = defineScript(`${fenced}
local status, hash = unpack(redis.call('HMGET', KEYS[2], 'status', 'txHash'))
if hash ~= ARGV[2] or (status ~= 'signed' and status ~= 'broadcast') then return 'changed' end
redis.call('HSET', KEYS[2], 'givenUp', ARGV[3])
return 'done'
`);

/**
 * Ends a claim. KEYS leader, claim, queue, open, paid, limits of address, scope and all. ARGV fence, now, id, hash of its
 * transaction or '' while it has none, status, reason, block number or '', how long the record is kept, how many ended
 * payments are remembered. A refused claim stops to count in its limits.
 */
export const endScript = defineScript(`${fenced}${luaNowMs}
local _, now, id, hash, status, reason, block, keptMs, paidMax = unpack(ARGV)
local found, foundHash, nonce = unpack(redis.call('HMGET', KEYS[2], 'status', 'txHash', 'nonce'))
if not found or found == 'confirmed' or found == 'refused' or (foundHash or '') ~= hash then return 'changed' end
redis.call('HSET', KEYS[2], 'status', status, 'endedAtMs', string.format('%.0f', nowMs(now)))
if block ~= '' then redis.call('HSET', KEYS[2], 'blockNumber', block) end
if reason ~= '' then redis.call('HSET', KEYS[2], 'reason', reason) end
redis.call('LREM', KEYS[3], 1, id)
redis.call('ZREM', KEYS[4], id)
if nonce then
  redis.call('ZADD', KEYS[5], nonce, id)
  redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -1 - tonumber(paidMax))
end
if status == 'refused' then
  for index = 6, 8 do redis.call('ZREM', KEYS[index], id) end
end
redis.call('PEXPIRE', KEYS[2], keptMs)
return 'done'
`);

/**
 * Another transaction was mined at the claim's nonce, so its own never will be. It is signed again, before all others.
 * KEYS leader, claim, queue, open. ARGV fence, id, hash.
 */
export const requeueScript = defineScript(`${fenced}
local status, hash = unpack(redis.call('HMGET', KEYS[2], 'status', 'txHash'))
if hash ~= ARGV[3] or (status ~= 'signed' and status ~= 'broadcast') then return 'changed' end
redis.call('HSET', KEYS[2], 'status', 'received')
redis.call('HDEL', KEYS[2], 'nonce', 'raw', 'txHash', 'givenUp')
redis.call('ZREM', KEYS[4], ARGV[2])
redis.call('LPUSH', KEYS[3], ARGV[2])
return 'done'
`);

/**
 * The chain has lost the block of an ended payment (a dev chain that went back). Its bytes are broadcast again.
 * KEYS leader, claim, open, paid. ARGV fence, id, nonce.
 */
export const reopenScript = defineScript(`${fenced}
redis.call('ZREM', KEYS[4], ARGV[2])
local status = redis.call('HGET', KEYS[2], 'status')
if status ~= 'confirmed' and status ~= 'refused' then return 'changed' end
redis.call('HSET', KEYS[2], 'status', 'signed')
redis.call('HDEL', KEYS[2], 'endedAtMs', 'blockNumber', 'reason')
redis.call('PERSIST', KEYS[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
return 'done'
`);

/** KEYS leader, nonce. ARGV fence, the nonce as it was ('' where there was none), the nonce as it is. */
export const moveNonceScript = defineScript(`${fenced}
if (redis.call('GET', KEYS[2]) or '') ~= ARGV[2] then return 'changed' end
redis.call('SET', KEYS[2], ARGV[3])
return 'done'
`);

/**
 * A payment was found on the chain that Redis does not know as made: writes its claim, or ends the one that waits, or that
 * was signed for the same nonce with other bytes. KEYS leader, claim, queue, open, limits of address and all. ARGV fence,
 * now, id, nonce, the time when it stops to count, how long the record is kept, window, then names and values of the
 * record.
 */
export const restoreScript = defineScript(`${fenced}${luaNowMs}
local now, id, nonce, until_ = nowMs(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local keptMs, window = ARGV[6], ARGV[7]
local status, signedFor = unpack(redis.call('HMGET', KEYS[2], 'status', 'nonce'))
if status == 'confirmed' then return 'known' end
local isUnderWay = status == 'signed' or status == 'broadcast'
if isUnderWay and signedFor ~= nonce then return 'under way' end
redis.call('HDEL', KEYS[2], 'raw', 'givenUp', 'reason')
redis.call('HSET', KEYS[2], 'id', id, 'status', 'confirmed', 'nonce', nonce,
  'endedAtMs', string.format('%.0f', now), unpack(ARGV, 8))
redis.call('PEXPIRE', KEYS[2], keptMs)
redis.call('LREM', KEYS[3], 1, id)
redis.call('ZREM', KEYS[4], id)
if until_ > now then
  for index = 5, 6 do
    redis.call('ZADD', KEYS[index], 'NX', until_, id)
    redis.call('PEXPIRE', KEYS[index], window)
  end
end
return 'done'
`);
