import type { FastifyReply, FastifyRequest } from "fastify";
import { type ClientAddress, limitAddress } from "../../../lib/http-service/client-address.ts";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { checkApiKey, hashApiKey, type Profile } from "../../../lib/keys/api-key.ts";
import { addressOf, type ChargeClient } from "../../rest/charge.ts";
import type { Doors, KeyCaller, KeyScope } from "../../rest/security.ts";
import { publicId } from "../public-id.ts";
import { isSessionToken } from "../session/session-token.ts";
import type { KeyLookUp, KnownKey } from "./key-look-up.ts";
import type { KeyUse } from "./key-use.ts";
import { challenge, presentedKey, unknownKey } from "./presented-key.ts";

/**
 * Lets a request in by its key, and charges the key. Keys that are none are charged to the address, on a count of their own: guessing is
 * bounded, and somebody with a good key is not refused for what others behind the same address read.
 */
export function createRequireKey({
  lookUp,
  use,
  chargeClient,
  clientAddress,
  profile,
  now,
}: {
  lookUp: KeyLookUp;
  use: KeyUse;
  chargeClient: ChargeClient;
  clientAddress: ClientAddress;
  profile: Profile;
  now: () => number;
}): Doors["requireKey"] {
  const failuresOf = (request: FastifyRequest) =>
    `key-failures:${limitAddress(addressOf(request, clientAddress))}`;

  /** Counts a refusal against the address, and tells of that limit once it is reached. */
  async function refuse(request: FastifyRequest, reply: FastifyReply, refused: Refusal): Promise<Refusal> {
    const charged = await chargeClient({ reply, client: failuresOf(request), cost: 1 });
    return isRefusal(charged) ? charged : refused;
  }

  /** PostgreSQL is asked only for an address that has not guessed too often; of a key that there is, that costs nothing. */
  async function findInTruth(
    request: FastifyRequest,
    reply: FastifyReply,
    hash: string,
  ): Promise<KnownKey | Refusal> {
    const charged = await chargeClient({ reply, client: failuresOf(request), cost: 1 });
    if (isRefusal(charged)) return charged;
    const found = await lookUp.truth(hash).catch((error: unknown) => {
      charged.refund();
      throw error;
    });
    if (found === undefined) return unknownKey;
    charged.refund();
    return found;
  }

  return async ({ request, reply, cost, scope }) => {
    const presented = presentedKey(request.raw);
    if (isRefusal(presented)) return refuse(request, reply, presented);
    const { secret } = presented;
    const form = checkApiKey(secret, "svc");
    if (form === "mistyped") return refuse(request, reply, mistyped);
    if (isSessionToken(secret)) return refuse(request, reply, sessionInstead);
    if (form === "foreign" || isOfDevelopment(secret, profile)) return refuse(request, reply, unknownKey);
    const hash = hashApiKey(secret);
    const key = (await lookUp.shared(hash)) ?? (await findInTruth(request, reply, hash));
    if (isRefusal(key)) return key;
    const over = judge(key, now());
    if (over !== undefined) return refuse(request, reply, over);
    const charged = await chargeClient({ reply, client: `key:${key.id}`, cost });
    if (isRefusal(charged)) return charged;
    use.saw(key.id);
    return callerOf(key, scope);
  };
}

function judge({ isRevoked, expiresAtMs }: KnownKey, nowMs: number): Refusal | undefined {
  if (isRevoked) return revoked;
  return expiresAtMs <= nowMs ? expired : undefined;
}

function callerOf({ id, wallet, scopes }: KnownKey, scope: KeyScope): KeyCaller | Refusal {
  if (scopes.includes(scope)) return { keyId: publicId("key", id), wallet, scopes };
  return refusal(
    "insufficient_scope",
    `This needs a key with the scope ${scope}; this key has ${scopes.join(", ")}`,
  );
}

/** One database may have served both profiles. */
function isOfDevelopment(secret: string, profile: Profile): boolean {
  return profile === "production" && secret.startsWith("svc_dev_");
}

const mistyped = refusal(
  "api_key_invalid",
  "The API key is mistyped: its checksum does not match. Copy it again",
  challenge,
);
const sessionInstead = refusal(
  "api_key_invalid",
  "A wallet session does not open this, which is for programs with an API key: send the key",
  challenge,
);
const expired = refusal(
  "api_key_expired",
  "The API key's validity period has elapsed; it cannot be renewed. Buy another one",
  challenge,
);
const revoked = refusal("api_key_revoked", "The API key was revoked; use another one", challenge);
