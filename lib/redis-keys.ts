/**
 * Every key that Tollgate holds in Redis, in one place: shape, lifetime, who writes it, and the hash tag.
 *
 * A script may touch keys of one hash tag only (the part in braces), because Redis Cluster and Valkey keep each
 * tag on one node. So the tag says what can change together in one step.
 */

/*
 * API keys and teams, tag `{keys}`. Owner: lib/key-store, called by the `keys` command line (administration) and by a
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

/** Pub/sub channel: `{"version": n, "hash": "…"}` for a key, `{"version": n, "team": "…"}` for a team. */
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

/**
 * Prefix of the counters of failures by client address, `failures:<address>`: integers that end with their window.
 * Owner: gateway/limits (written by rate-limiter-flexible, which puts the colon and touches one of them at a time).
 */
export const failuresKeyPrefix = "failures";
