import { createHash } from "node:crypto";
import { z } from "zod";
import type { RateLimit } from "../../lib/http-service/rate-limit-fields.ts";
import {
  faucetClaimKey,
  faucetIdempotencyKey,
  faucetLimitKey,
  faucetNonceKey,
  faucetOpenKey,
  faucetPausedKey,
  faucetQueueKey,
} from "../../lib/redis/keys/faucet.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript } from "../../lib/redis/run-script.ts";
import { admitScript } from "./admission-script.ts";
import { type Claim, parseClaim } from "./claim.ts";
import type { ClaimIds } from "./claim-ids.ts";

export type ClaimLimits = {
  perAddress: number;
  perClient: number;
  perTeam: number;
  overall: number;
  windowMs: number;
};

export type LimitName = "address" | "scope" | "all";

export type AdmitResult =
  | { outcome: "accepted"; claim: Claim; limits: readonly RateLimit[] }
  | { outcome: "repeated"; claim: Claim; limits: readonly RateLimit[] }
  | { outcome: "limited"; limit: LimitName; waitMs: number; limits: readonly RateLimit[] }
  | { outcome: "reused" | "paused" | "starting" | "full" | "empty"; limits: readonly RateLimit[] };

/** For whom a claim counts, beside its recipient: a client by its address, or a team of the gateway. */
export type ClaimScope = { kind: "client" | "team"; name: string };

export type Admission = ReturnType<typeof createAdmission>;

/**
 * Takes claims into Redis. The limits are sliding windows: each claim counts for `windowMs` from the moment it was taken,
 * by Redis's clock (a test injects `now`, Unix milliseconds).
 *
 * Rejects with ioredis's error where Redis does not answer. The claim may have been taken or not.
 */
export function createAdmission({
  redis,
  settings,
  idempotencyMs,
  ids,
  now,
}: {
  redis: RedisClient;
  ids: ClaimIds;
  /** Read anew for each claim, which is judged by one state of them. */
  settings: { readonly limits: Readonly<ClaimLimits>; readonly queueMax: number };
  idempotencyMs: number;
  now?: (() => number) | undefined;
}) {
  const find = async (id: string) => parseClaim(await redis.hgetall(faucetClaimKey(id)));

  return {
    find,

    /** `affordable`: how many claims of this amount the wallet could pay if none were open. */
    async admit({
      address,
      amountWei,
      scope,
      recipientChecked,
      affordable,
      idempotencyKey,
    }: {
      address: string;
      amountWei: bigint;
      scope: ClaimScope;
      recipientChecked: boolean;
      affordable: number;
      idempotencyKey: string | undefined;
    }): Promise<AdmitResult> {
      const scopeName = `${scope.kind}:${scope.name}`;
      const limits = { ...settings.limits };
      const perScope = scope.kind === "team" ? limits.perTeam : limits.perClient;
      const fingerprint = address.toLowerCase();
      const nowMs = now?.() ?? Date.now();
      const { id, earlierId } = ids.of({ scope: scopeName, idempotencyKey, address, nowMs });
      const record = {
        address,
        amountWei: String(amountWei),
        scope: scopeName,
        recipientChecked: recipientChecked ? "1" : "0",
      };
      const answer = answerSchema.parse(
        await runScript({
          redis,
          script: admitScript,
          keys: [
            faucetClaimKey(id),
            faucetQueueKey,
            faucetOpenKey,
            faucetPausedKey,
            faucetNonceKey,
            faucetIdempotencyKey(sha256(`${scopeName} ${idempotencyKey ?? ""}`)),
            faucetLimitKey(`address:${fingerprint}`),
            faucetLimitKey(scopeName),
            faucetLimitKey("all"),
            faucetClaimKey(earlierId),
          ],
          args: [
            now?.() ?? "",
            limits.windowMs,
            limits.perAddress,
            perScope,
            limits.overall,
            settings.queueMax,
            affordable,
            idempotencyKey === undefined ? 0 : idempotencyMs,
            fingerprint,
            id,
            earlierId,
            ...Object.entries(record).flat(),
          ],
        }),
      );
      const [outcome, detail, waitMs, ofAddress, ofScope] = answer;
      const told = [
        { name: "address", limit: limits.perAddress, used: ofAddress },
        { name: scope.kind, limit: perScope, used: ofScope },
      ].map(({ name, limit, used: [used, resetMs] }) => ({
        ...{ name, limit, used, resetMs },
        windowMs: limits.windowMs,
      }));
      if (outcome === "limited")
        return { outcome, limit: limitNameSchema.parse(detail), waitMs, limits: told };
      if (outcome !== "accepted" && outcome !== "repeated") return { outcome, limits: told };
      const claim = await find(outcome === "accepted" ? id : detail);
      if (claim === undefined) throw new Error(`the claim ${detail} is gone before its idempotency key`);
      return { outcome, claim, limits: told };
    },

    nextAtMs: (address: string) => readNextAtMs({ redis, limits: settings.limits, now, address }),

    counts: () => countClaims({ redis, now }),
  };
}

/** When the address may claim again, in Unix milliseconds; undefined: it may now. */
async function readNextAtMs({
  redis,
  limits,
  now,
  address,
}: {
  redis: RedisClient;
  limits: ClaimLimits;
  now: (() => number) | undefined;
  address: string;
}): Promise<number | undefined> {
  const key = faucetLimitKey(`address:${address.toLowerCase()}`);
  const after = `(${now?.() ?? Date.now()}`;
  const room = limits.perAddress - (await redis.zcount(key, after, "+inf"));
  if (room > 0) return undefined;
  const [, endsAtMs] = await redis.zrangebyscore(key, after, "+inf", "WITHSCORES", "LIMIT", -room, 1);
  return endsAtMs === undefined ? undefined : Number(endsAtMs);
}

/** How the faucet stands: claims waiting for a signature, signed ones under way, claims that count today. */
export async function countClaims({ redis, now }: { redis: RedisClient; now?: (() => number) | undefined }) {
  const [waiting, open, inWindow, pausedSinceMs] = await Promise.all([
    redis.llen(faucetQueueKey),
    redis.zcard(faucetOpenKey),
    redis.zcount(faucetLimitKey("all"), now?.() ?? Date.now(), "+inf"),
    redis.get(faucetPausedKey),
  ]);
  return { waiting, open, inWindow, paused: pausedSinceMs !== null };
}

const limitNameSchema = z.enum(["address", "scope", "all"]);
const usedSchema = z.tuple([z.number(), z.number()]);
const answerSchema = z.tuple([
  z.enum(["accepted", "repeated", "reused", "paused", "starting", "full", "empty", "limited"]),
  z.string(),
  z.number(),
  usedSchema,
  usedSchema,
]);

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
