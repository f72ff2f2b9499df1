import { errorTable } from "../../../lib/errors.ts";
import type { ClientAddress } from "../../../lib/http-service/client-address.ts";
import { checkApiKey, hashApiKey, type Profile } from "../../../lib/keys/api-key.ts";
import type { FoundKey } from "../../../lib/keys/key-reader.ts";
import type { Permission } from "../../../lib/keys/key-record.ts";
import { keyRefusal } from "../../../lib/keys/key-refusal.ts";
import type { FoundOrNot, KeyCache } from "../../auth/key-cache.ts";
import { isRefusal, type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { FailureLimiter } from "../../limits/failure-limiter.ts";
import type { MaybePromise } from "../../maybe-promise.ts";
import type { Exchange } from "../../server/exchange.ts";

const keyCharsMax = 200;

export type AuthenticateDependencies = {
  profile: Profile;
  keys: Pick<KeyCache, "known" | "find" | "loss">;
  failures: FailureLimiter;
  clientAddress: ClientAddress;
  monotonicMs: () => number;
};

/**
 * Whose request it is: the header `X-API-Key` to the key's record, at once if that is in memory.
 *
 * Requests without a good key are counted by client address and refused beyond the limit, after the look-up: a key
 * that is known is never refused for what others behind the same address do.
 */
export function authenticate(
  exchange: Pick<Exchange, "head" | "peerAddress">,
  deps: AuthenticateDependencies,
): MaybePromise<FoundKey | Refusal> {
  const { head } = exchange;
  if (head.apiKeyCount > 1) return refusal("invalid_request", "The header X-API-Key was sent more than once");
  const found = findKey(exchange, deps);
  const judge = (key: FoundKey | Refusal): MaybePromise<FoundKey | Refusal> =>
    isRefusal(key) ? countFailure(key, exchange, deps) : key;
  return found instanceof Promise ? found.then(judge) : judge(found);
}

async function countFailure(
  refused: Refusal,
  { head, peerAddress }: Pick<Exchange, "head" | "peerAddress">,
  { failures, clientAddress, keys }: AuthenticateDependencies,
): Promise<Refusal> {
  if (refused.refused === "upstream_unavailable" || refused.refused === "rate_limited") return refused;
  // While keys are lost a good key looks like an unknown one.
  if (keys.loss() !== undefined) return refused;
  const address = clientAddress.of({ peer: peerAddress(), forwardedFor: head.forwardedFor });
  const blockedMs = failures.blockedForMs(address);
  if (blockedMs > 0) return tooManyFailures(blockedMs);
  await failures.countFailure(address);
  return refused;
}

/** Whether a key may do what a path is for. */
export function checkPermission(key: FoundKey, permission: Permission): Refusal | undefined {
  return key.permissions.includes(permission)
    ? undefined
    : refusal("insufficient_permission", `This API key does not have the permission ${permission}`);
}

function findKey(
  { head, peerAddress }: Pick<Exchange, "head" | "peerAddress">,
  deps: AuthenticateDependencies,
): MaybePromise<FoundKey | Refusal> {
  const { apiKey, query, forwardedFor } = head;
  if (apiKey === undefined || apiKey === "") {
    const hint = query === "" ? "" : "; it is never taken from the URL, where logs would keep it";
    return unauthorized("api_key_missing", `Send your API key in the header X-API-Key${hint}`);
  }
  if (apiKey.length > keyCharsMax) return unauthorized("api_key_invalid", unknownKey);
  const hash = hashApiKey(apiKey);
  const remembered = deps.keys.known(hash);
  if (remembered !== undefined) return checkKey(remembered, deps, 0);
  // A key in memory is good. The checksum of any other is looked at first, which spares Redis a look-up.
  if (checkApiKey(apiKey) === "mistyped") {
    return unauthorized(
      "api_key_invalid",
      "The API key is mistyped: its checksum does not match. Copy it again",
    );
  }
  const address = deps.clientAddress.of({ peer: peerAddress(), forwardedFor });
  return findByHash(hash, deps, deps.failures.blockedForMs(address));
}

type KeyDependencies = Pick<AuthenticateDependencies, "profile" | "keys" | "monotonicMs">;

/**
 * The same by the key's hash, as for a key that opened a WebSocket before. `blockedMs`: for how long the address is refused
 * for bad keys; its unknown keys are looked up at a small rate then.
 */
export function findByHash(
  hash: string,
  deps: KeyDependencies,
  blockedMs = 0,
): MaybePromise<FoundKey | Refusal> {
  const found = deps.keys.find(hash, { isRefused: blockedMs > 0 });
  const check = (known: FoundOrNot) => checkKey(known, deps, blockedMs);
  return found instanceof Promise ? found.then(check) : check(found);
}

/** Whether the key of this SHA-256 opens nothing any more; false while that is not known. Never rejects. */
export async function isKeyOver(hash: string, deps: KeyDependencies): Promise<boolean> {
  const key = await findByHash(hash, deps);
  return isRefusal(key) && errorTable[key.refused].status === errorTable.api_key_invalid.status;
}

function checkKey(
  known: FoundOrNot,
  { profile, monotonicMs }: KeyDependencies,
  blockedMs: number,
): FoundKey | Refusal {
  if (known === "tooMany") return blockedMs > 0 ? tooManyFailures(blockedMs) : tooManyLookUps;
  if (known === "unavailable") {
    return refusal("upstream_unavailable", "API keys cannot be checked at the moment; try again shortly", {
      headers: { "Retry-After": "1" },
    });
  }
  if (known === undefined) return unauthorized("api_key_invalid", unknownKey);
  const refused = keyRefusal({ key: known.key, ageMs: monotonicMs() - known.readAtMs, profile });
  return refused === undefined ? known.key : unauthorized(refused, keyMessages[refused]);
}

const tooManyLookUps = refusal(
  "upstream_unavailable",
  "Too many unknown API keys are being looked up at the moment; try again shortly",
  { headers: { "Retry-After": "1" } },
);
const unknownKey = "The API key is unknown; check that it is whole, and meant for this network";
const keyMessages = {
  api_key_invalid: unknownKey,
  api_key_revoked: "The API key was revoked; ask your operator for a new one",
  api_key_expired: "The API key has expired; ask your operator for a new one",
};

/** RFC 9110 section 15.5.2: a 401 names the scheme that would be accepted. */
function unauthorized(condition: Refusal["refused"], message: string): Refusal {
  return refusal(condition, message, {
    headers: { "WWW-Authenticate": 'ApiKey realm="tollgate", header="X-API-Key"' },
  });
}

function tooManyFailures(blockedMs: number): Refusal {
  return refusal("rate_limited", "Too many requests without a valid API key from your address", {
    data: { retryAfterMs: Math.ceil(blockedMs) },
    headers: { "Retry-After": String(Math.ceil(blockedMs / 1000)) },
  });
}
