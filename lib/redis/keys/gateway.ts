/*
 * Every key in Redis that belongs to the gateway: shape, lifetime, who writes it, and the hash tag.
 *
 * A script may touch keys of one hash tag only (the part in braces), because Redis Cluster and Valkey keep each tag on
 * one node. So the tag says what can change together in one step.
 */

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

/**
 * Hash like a key's budget. A gateway charges it to see that Redis takes writes again after it did not answer: in a cluster that
 * node which has this team's budgets, in a single Redis that of no team.
 */
export function limitsProbeKey(team: string): string {
  return `{team:${team}}:probe`;
}

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
