/*
 * The API's limit of requests. Owner: api/limits (written by rate-limiter-flexible, which puts the colon and touches one
 * of them at a time).
 */

/** Prefix of counters by client address, `api-requests:<address or /64>`: integers that end with their window. */
export const apiLimitsKeyPrefix = "api-requests";
