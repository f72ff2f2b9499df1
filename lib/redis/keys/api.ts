/*
 * The API's limit of requests. Owner: api/limits, which touches one of them at a time.
 */

/** Integer: points that a client (an address or a /64) has used of its window. Lifetime: what is left of the window. */
export function apiRequestsKey(client: string): string {
  return `api-requests:${client}`;
}
