/*
 * What a restore leaves in PostgreSQL for those who serve from it: merchants' keys and sessions that have ended since the restored time would
 * be good again. `npm run backup -- restore` writes both, `npm run api -- confirm` takes the mark away.
 */

/** A setting in postgresql.auto.conf: the time of the restore (ISO 8601), until somebody has confirmed it. */
export const restoreMark = "tollgate.restored_at";

/** In the data folder: `{ keys: [{ id, revokedAt }] }`, the keys of which the archive knows that they were revoked. */
export const restoredRevocations = "restored-revocations.json";

/** SQL: when this database was restored, while nobody has confirmed it; else null. */
export const restoredAtSql = `nullif(current_setting('${restoreMark}', true), '')::timestamptz`;
