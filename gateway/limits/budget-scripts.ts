import { defineScript } from "../../lib/redis/run-script.ts";

/*
 * The two scripts that change budgets. KEYS[1] is the budget of a key, KEYS[2] that of its team, where it has a cap: one hash tag. The
 * fields are described in lib/redis/keys/gateway.ts.
 *
 * ARGV[1] is empty: the time is Redis's own (TIME), so the clocks of gateways do not matter. Tests put a time there to
 * walk through many windows at once.
 *
 * If a window's stored end is further away than the length of a window, Redis's clock was set back. The window then
 * ends one length from now. It does not wait until the clock has caught up.
 */
const opening = `
local now, stamp
if ARGV[1] == '' then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  stamp = time[1] .. string.format('%06d', tonumber(time[2]))
else
  now = tonumber(ARGV[1])
  stamp = ARGV[1] .. '000'
end
local windowMs = tonumber(ARGV[2])
local day = math.floor(now / 86400000)

local function open(name)
  local stored = redis.call('HMGET', name, 'w', 'e', 'u', 'd', 'n')
  local budget = {
    name = name, window = stored[1], ends = tonumber(stored[2]), used = tonumber(stored[3]), today = 0
  }
  if tonumber(stored[4]) == day then budget.today = tonumber(stored[5]) end
  budget.running = budget.window and now < budget.ends
  return budget
end

local function save(budget)
  redis.call('HSET', budget.name, 'w', budget.window, 'e', budget.ends, 'u', budget.used,
    'd', day, 'n', budget.today)
  redis.call('PEXPIRE', budget.name, 172800000)
end
`;

/**
 * Takes points: first for calls that wait, then in advance (a lease).
 *
 * ARGV: time or '', window ms, key's limit, team's cap (0: none), process, number of the lease, points wanted in
 * advance, then pairs of cost and number of calls of that cost, in the calls' order.
 *
 * Each call is judged alone, as if it had come by itself: one that does not fit takes nothing, and a cheaper one after
 * it may still fit. Refused calls neither count nor begin a window, and what is wanted in advance does not begin one.
 *
 * The lease is at most a quarter of a fair share of what is left (guided self-scheduling): large while there is
 * plenty, single points near the end. The number of processes is counted by the leases of this window. It only decides
 * how points are shared, never how many there are: every point is taken from the counter before it is leased.
 *
 * Answer: [key's window, its ms to the end, points left, team's window, its ms to the end, points left (-1: no
 * cap), points leased, 1 if the key's limit refused a call + 2 if the team's did, then for each pair the calls that fit].
 */
export const takeScript = defineScript(
  `${opening}
local function openForCharge(name, max)
  local budget = open(name)
  budget.max = max
  if not budget.running then
    budget.window = stamp
    budget.ends = now + windowMs
    budget.used = 0
  elseif budget.ends > now + windowMs then
    budget.ends = now + windowMs
    redis.call('HSET', name, 'e', budget.ends)
  end
  return budget
end

local function left(budget)
  return math.max(0, budget.max - budget.used)
end

local function charge(budget, points)
  budget.used = budget.used + points
  budget.today = budget.today + points
end

local function store(budget)
  if not budget.running and redis.call('HLEN', budget.name) > 5 then redis.call('DEL', budget.name) end
  save(budget)
end

local key = openForCharge(KEYS[1], tonumber(ARGV[3]))
local team = tonumber(ARGV[4]) > 0 and openForCharge(KEYS[2], tonumber(ARGV[4]))
local taken, keyShort, teamShort, fits = 0, 0, 0, {}
for i = 8, #ARGV, 2 do
  local cost, count = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local fit = math.min(count, math.floor(left(key) / cost))
  if team then fit = math.min(fit, math.floor(left(team) / cost)) end
  charge(key, fit * cost)
  if team then charge(team, fit * cost) end
  if fit < count then
    if left(key) < cost then keyShort = 1 end
    if team and left(team) < cost then teamShort = 2 end
  end
  taken = taken + fit * cost
  fits[#fits + 1] = fit
end

local leased, wanted = 0, tonumber(ARGV[7])
local lessee = 'p:' .. ARGV[5]
if wanted > 0 and (taken > 0 or (key.running and (not team or team.running))) then
  local free, processes = left(key), 1
  if team then free = math.min(free, left(team)) end
  if key.running then
    processes = redis.call('HLEN', KEYS[1]) - 5
    if redis.call('HEXISTS', KEYS[1], lessee) == 0 then processes = processes + 1 end
  end
  leased = math.min(wanted, math.ceil(free / (4 * processes)))
  charge(key, leased)
  if team then charge(team, leased) end
end

if taken + leased > 0 then
  store(key)
  if team then store(team) end
  if leased > 0 then redis.call('HSET', KEYS[1], lessee, ARGV[6]) end
end

local function describe(budget)
  local runs = budget.running or taken + leased > 0
  return runs and budget.window or '', budget.ends - now, left(budget)
end

local keyWindow, keyEnds, keyLeft = describe(key)
local teamWindow, teamEnds, teamLeft = '', 0, -1
if team then teamWindow, teamEnds, teamLeft = describe(team) end
local answer = { keyWindow, keyEnds, keyLeft, teamWindow, teamEnds, teamLeft, leased, keyShort + teamShort }
for _, fit in ipairs(fits) do answer[#answer + 1] = fit end
return answer
`,
);

/**
 * Gives back what is left of a lease, once: only in the window that it was taken in, and only under the number of the
 * process's last lease, which is struck out. Anything else changes nothing.
 *
 * ARGV: time or '', window ms, process, number of the lease, points, key's window, team's window (may be empty).
 * Answer: the points that the key's budget got back.
 */
export const giveBackScript = defineScript(`${opening}
local lessee, points = 'p:' .. ARGV[3], tonumber(ARGV[5])
local function giveBack(name, window)
  local budget = open(name)
  if not budget.running or budget.window ~= window then return 0 end
  local back = math.min(points, budget.used)
  budget.used = budget.used - back
  budget.today = math.max(0, budget.today - back)
  save(budget)
  return back
end

if redis.call('HGET', KEYS[1], 'w') ~= ARGV[6] then return 0 end
if redis.call('HGET', KEYS[1], lessee) ~= ARGV[4] then return 0 end
local back = giveBack(KEYS[1], ARGV[6])
redis.call('HSET', KEYS[1], lessee, '')
if ARGV[7] ~= '' then giveBack(KEYS[2], ARGV[7]) end
return back
`);
