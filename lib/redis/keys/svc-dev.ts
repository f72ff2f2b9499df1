/*
 * The developer API's look-up of sold keys. Owner: api/merchant/api-keys. PostgreSQL is the truth: an emptied Redis costs a look-up
 * there. Each command touches one key, so none needs a hash tag.
 */

/** JSON: a sold key's record, by SHA-256 of its secret (64 hex digits). Lifetime: 60 seconds. */
export function soldKeyKey(hash: string): string {
  return `svc-dev:key:${hash}`;
}
