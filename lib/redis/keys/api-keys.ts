/*
 * Every key in Redis that belongs to API keys and teams: shape, lifetime, who writes it, and the hash tag.
 *
 * A script may touch keys of one hash tag only (the part in braces), because Redis Cluster and Valkey keep each tag on
 * one node. So the tag says what can change together in one step.
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
