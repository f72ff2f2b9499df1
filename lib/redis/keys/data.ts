/*
 * Of which version the data in a Redis is. One pair for what gateways and the key store keep, one for the faucet's, which
 * may be in another Redis: each with the hash tag of the data that it tells of. Owner: lib/redis/migrate-data.ts.
 */

/**
 * Hash: a migration's name, such as `v0.2.0-shorter-names` → JSON `{version, lets, by, atMs}`, and while one is under way
 * `underway` → JSON `{name, cursor}`. No end.
 */
export const keysDataKey = "{keys}:data";

/** The token of the process that migrates now. Lifetime: `lockMs`, renewed with each piece. */
export const keysMigratingKey = "{keys}:migrating";

/** As `keysDataKey`. */
export const faucetDataKey = "{faucet}:data";

/** As `keysMigratingKey`. */
export const faucetMigratingKey = "{faucet}:migrating";
