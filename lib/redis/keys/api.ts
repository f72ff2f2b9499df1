/*
 * The API's limits of requests, and what a wallet has to sign once. Owners: api/limits, which touches one key at a time, and
 * api/merchant/session.
 */

/**
 * Integer: points that a client has used of its window. A client is an address or a /64; for requests for nonces
 * `session-nonce:<address>`, for tries to sign in `sign-in:<address>`, for calls at /rpc `payer-rpc:<address>` and for what is sent there
 * `payer-rpc:<address>:sends`; `payer-rpc:everybody` and `payer-rpc:everybody:sends` are all of these together. Lifetime: what is left of the window.
 */
export function apiRequestsKey(client: string): string {
  return `api-requests:${client}`;
}

/**
 * When a nonce to sign in with was given out, in ms. Lifetime: `session.nonceSeconds`. Taken by GETDEL, so that it serves one
 * try only, whatever comes of it. Lost with Redis: whoever is signing in begins anew.
 */
export function sessionNonceKey(nonce: string): string {
  return `{session}:nonce:${nonce}`;
}
