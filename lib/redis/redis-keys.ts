/**
 * Every key that Tollgate holds in Redis, in one place: shape, lifetime, who writes it, and the hash tag.
 *
 * A script may touch keys of one hash tag only (the part in braces), because Redis Cluster and Valkey keep each
 * tag on one node. So the tag says what can change together in one step.
 */

/*
 * API keys and teams, tag `{keys}`. Owner: lib/keys, called by the `keys` command line (administration) and by a
 * gateway of the development profile (its configured keys); gateways otherwise only read.
 *
 * One tag for all of them, because a record, the index of ids and the version must change in one step. That puts them
 * on one node of a cluster, which is enough: there are a few thousand, they change rarely, and a gateway reads
 * a record once and then keeps it in memory. Counters, which are busy, have a tag for each team (below).
 */

/** Hash of one key's record, by SHA-256 of its secret (64 hex digits). Kept after revocation and expiry. */
export function keyRecordKey(hash: string): string {
  return `{keys}:record:${hash}`;
}

/** Hash: public id of a key → SHA-256 of its secret. Changes in the script that makes or removes the record. */
export const keyIdsKey = "{keys}:ids";

/** Hash: team's name → its settings as JSON. One hash, so that a look-up can name all its Redis keys beforehand. */
export const keyTeamsKey = "{keys}:teams";

/**
 * Integer, counted up by every change of a key or team in the script that makes the change. Starts at the time in
 * microseconds, so that an emptied Redis does not count up to a number that a gateway has seen before.
 */
export const keyVersionKey = "{keys}:version";

/**
 * When the counting of the version began, in microseconds, and ` confirmed` behind it where an operator has said that
 * what Redis holds is meant, though it held something else before. Written with the first version.
 */
export const keyHistoryKey = "{keys}:history";

/**
 * `<version> <when its history began> <records>` of keys that went missing, written by a gateway that had seen them, so
 * that gateways which start later and the command line know of it. Gone when an operator has confirmed.
 */
export const keyLostKey = "{keys}:lost";

/**
 * Pub/sub channel: `{"version": n, "hash": "…"}` for a key, `{"version": n, "team": "…"}` for a team, `{"version": n,
 * "all": true}` for what may concern all of them.
 */
export const keyChangesChannel = "{keys}:changes";

/*
 * Budgets of the gateway's limits, tag `{team:<name>}`: a team's cap and the budgets of its keys change in one script.
 * Owner: gateway/limits. Lifetime: two days after the last charge (the day's use is shown until then).
 */

/**
 * Hash of one key's budget: `w` the window's id (microseconds of its start by Redis's clock), `e` its end in
 * milliseconds, `u` points taken in it, `d` the UTC day as a number, `n` points taken on that day, and for each gateway
 * process that leased points in this window `p:<process>` = number of its last lease (empty: given back).
 */
export function keyBudgetKey({ team, keyId }: { team: string; keyId: string }): string {
  return `{team:${team}}:budget:${keyId}`;
}

/** Hash of a team's budget over all its keys, fields as above without the processes. Kept only where a cap is set. */
export function teamBudgetKey(team: string): string {
  return `{team:${team}}:cap`;
}

/** Hash like a key's budget. A gateway charges it to see that Redis takes writes again after it did not answer. */
export const limitsProbeKey = "{limits}:probe";

/*
 * Filters, tag `{filters:<key's id>}`: a filter and the number of its key's filters change in one script. Owner:
 * gateway/subscriptions/filters. Lifetime: five minutes since the filter's last use.
 */

/**
 * Hash of one filter: `kind` (logs, blocks, pending), `criteria` (the filter object as JSON, for logs), `cursor` (up to
 * where it was told: `<number>:<hash>` of a block, or an id of the stream of pending transactions).
 */
export function filterRowKey({ keyId, id }: { keyId: string; id: string }): string {
  return `{filters:${keyId}}:${id}`;
}

/**
 * Sorted set of a key's filters, `<id>:<bytes of its criteria>`, by the time in milliseconds when they end unless used.
 */
export function filterIndexKey(keyId: string): string {
  return `{filters:${keyId}}:index`;
}

/*
 * Transactions that gateways have passed on, tag `{pending}`: the stream and the mark that a hash is in it change in one
 * script. Owner: gateway/subscriptions/pending.
 */

/** Stream of entries `hash`. Cut to about 10 000; without an end otherwise. */
export const pendingStreamKey = "{pending}:hashes";

/** Empty; there while a hash counts as told. Lifetime: ten minutes. */
export function pendingSeenKey(hash: string): string {
  return `{pending}:seen:${hash}`;
}

/**
 * Prefix of the counters of failures by client address, `failures:<address>`: integers that end with their window.
 * Owner: gateway/limits (written by rate-limiter-flexible, which puts the colon and touches one of them at a time).
 */
export const failuresKeyPrefix = "failures";

/*
 * The faucet, tag `{faucet}`: a claim, its limits, its place in the queue and the wallet's nonce change in one script.
 * Owner: faucet/. The `faucet` command line writes the allowlist and the pause. What is lost here can be paid twice or
 * not at all, so this Redis needs `appendonly yes` and `appendfsync always`.
 */

/**
 * Hash of one claim: `id`, `address` (EIP-55), `amountWei`, `status` (received, signed, broadcast, confirmed, refused),
 * `createdAtMs`, `scope` (the limit that it counts in beside its address: `client:<address>` or `team:<name>`),
 * `recipientChecked` (1 once the address was seen to hold no code); from signing on `nonce`, `raw` (the signed
 * transaction) and `txHash`; `givenUp` (why another transaction is offered at its nonce); at its end `endedAtMs`,
 * `blockNumber`, `reason`. Lifetime: `recordsKeptMs` after its end.
 */
export function faucetClaimKey(id: string): string {
  return `{faucet}:claim:${id}`;
}

/** Integer: attempts of `client:<address>` or `team:<name>` that were refused. Lifetime: `limits.refusalsWindowMs`. */
export function faucetRefusalsKey(scope: string): string {
  return `{faucet}:refusals:${scope}`;
}

/** List of the ids of claims that are not signed yet, oldest first. */
export const faucetQueueKey = "{faucet}:queue";

/** Sorted set of the ids of claims that are signed and not ended, by nonce. */
export const faucetOpenKey = "{faucet}:open";

/** Sorted set of the ids of the last ended payments, by nonce, for a dev chain that goes back. Bounded in number. */
export const faucetPaidKey = "{faucet}:paid";

/** Integer: the nonce of the next signature. Absent: the chain was not looked through yet, and no claim is taken. */
export const faucetNonceKey = "{faucet}:nonce";

/** Hash `genesisHash`, `wallet`: what nonce and claims belong to. */
export const faucetChainKey = "{faucet}:chain";

/** Hash `balanceWei`, `height`, `atMs`, `waits` (why nothing is paid, or empty): what the leader saw of the wallet last. */
export const faucetWalletKey = "{faucet}:wallet";

/** The fencing number of the replica that pays; ends by itself when it is not renewed. */
export const faucetLeaderKey = "{faucet}:leader";

/** Integer: the last fencing number given out. At least the time in microseconds, so that a lost Redis repeats none. */
export const faucetFenceKey = "{faucet}:fence";

/** Present while an operator has paused the faucet: the time in milliseconds since when. */
export const faucetPausedKey = "{faucet}:paused";

/** Hash: address in lower case → JSON `{label, amountWei?}`. Copied from the allowlist's file. */
export const faucetAllowlistKey = "{faucet}:allowlist";

/** Hash `sha256`, `changedAtMs` of the file that the allowlist was copied from. Changes in the script that copies. */
export const faucetAllowlistVersionKey = "{faucet}:allowlist-version";

/**
 * Sorted set of the ids of claims that count in a limit, by the time in milliseconds when they stop to. `scope`:
 * `address:<lower case>`, `client:<address or /64>`, `team:<name>` or `all`. Lifetime: one window after the last claim.
 */
export function faucetLimitKey(scope: string): string {
  return `{faucet}:limit:${scope}`;
}

/** `<address in lower case> <claim id>` by SHA-256 of scope and Idempotency-Key. Lifetime: `idempotencyMs`. */
export function faucetIdempotencyKey(hash: string): string {
  return `{faucet}:idempotency:${hash}`;
}

/*
 * Calls that have ended a validator, and traces that run now, tag `{traces}`: whether a trace may begin is decided in one
 * script. Owner: gateway/traces.
 */

/**
 * Sorted set of the fingerprints of calls that a validator has ended with, by the time in milliseconds by Redis's clock
 * when they are no longer refused. Lifetime: `deadlyCalls.refusedMs` after the last. Bounded in number.
 */
export const deadlyCallsKey = "{traces}:deadly";

/** Integer: how many traces of a key have ended a validator. Lifetime: `deadlyCalls.refusedMs` after the last. */
export function deadlyStrikesKey(keyId: string): string {
  return `{traces}:strikes:${keyId}`;
}

/**
 * Hash: a validator's address → `<token> <key's id> <end in milliseconds>` while it runs a trace. Fields end by themselves;
 * lifetime: a day after the last trace.
 */
export const tracesRunningKey = "{traces}:running";
