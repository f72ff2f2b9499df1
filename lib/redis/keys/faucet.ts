/*
 * Every key in Redis that belongs to the faucet: shape, lifetime, who writes it, and the hash tag.
 *
 * A script may touch keys of one hash tag only (the part in braces), because Redis Cluster and Valkey keep each tag on
 * one node. So the tag says what can change together in one step.
 */

/*
 * The faucet, tag `{faucet}`: a claim, its limits, its place in the queue and the wallet's nonce change in one script.
 * Owner: faucet/. The `faucet` command line writes the allowlist and the pause. What is lost here can be paid twice or
 * not at all, so this Redis needs `appendonly yes` and `appendfsync always`.
 */

/**
 * Hash of one claim: `id`, `address` (EIP-55), `amountWei`, `status` (received, signed, broadcast, confirmed, refused),
 * `createdAtMs`, `scope` (the limit that it counts in beside its address: `client:<address>` or `team:<name>`),
 * `recipientChecked` (1 once the address was seen to hold no code); from signing on `nonce`, `raw` (the signed
 * transaction) and `txHash`; `givenUp` (why another transaction is broadcast at its nonce); at its end `endedAtMs`,
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

/** Integer: the nonce of the next signature. Absent: the backfill is not done yet, and no claim is taken. */
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
