import {
  keyChangesChannel,
  keyHistoryKey,
  keyIdsKey,
  keyRecordKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import type { Script } from "../redis/run-script.ts";
import { createApiKey, createKeyId, hashApiKey } from "./api-key.ts";
import type { createKeyReader } from "./key-reader.ts";
import { type KeyRecord, parseKeyRecord, timeMsSchema } from "./key-record.ts";
import { rotateScript } from "./key-scripts.ts";

export type RotateResult =
  | { outcome: "rotated"; secret: string; key: KeyRecord; previous: KeyRecord }
  | { outcome: "alreadyRotated"; rotatedTo: string }
  | { outcome: "unknown" | "revoked" | "expired" | "tooMany" | "duplicateHash" | "duplicateId" };

export type RunKeyScript = (script: Script, keys: string[], args: (string | number)[]) => Promise<unknown>;

/** Makes the function that gives a key a new secret. */
export function createKeyRotation({
  run,
  reader,
  keysMax,
  random,
}: {
  run: RunKeyScript;
  reader: Pick<ReturnType<typeof createKeyReader>, "show" | "nowMs">;
  keysMax: number;
  random: { randomBytes?: (size: number) => Uint8Array };
}) {
  /**
   * Makes a key with a new secret and the settings of the old one, which ends after `overlapMs` if it would not
   * end earlier by itself. The new key keeps the old one's expiry unless it is given its own. Only a key that is
   * good can be rotated, and only once: the next rotation is the new key's.
   */
  return async function rotate({
    id,
    overlapMs,
    expiresAtMs,
  }: {
    id: string;
    overlapMs: number;
    expiresAtMs?: number;
  }): Promise<RotateResult> {
    const old = await reader.show(id);
    if (old === undefined) return { outcome: "unknown" };
    const secret = createApiKey({ profile: old.profile, ...random });
    const newHash = hashApiKey(secret);
    const nowMs = await reader.nowMs();
    const endMs = timeMsSchema.parse(nowMs + overlapMs);
    const expiry = expiresAtMs === undefined ? "" : timeMsSchema.parse(expiresAtMs);
    const answer = await run(
      rotateScript,
      [keyRecordKey(old.hash), keyRecordKey(newHash), keyIdsKey, keyVersionKey, keyHistoryKey],
      [keyChangesChannel, old.hash, newHash, createKeyId(random), nowMs, endMs, expiry, keysMax],
    );
    const [outcome, next, previous] = Array.isArray(answer) ? answer : [];
    if (outcome === "rotated") {
      return {
        outcome,
        secret,
        key: parseKeyRecord(newHash, next),
        previous: parseKeyRecord(old.hash, previous),
      };
    }
    if (outcome === "alreadyRotated") return { outcome, rotatedTo: String(next) };
    return refused(outcome, rotateRefusals);
  };
}

const rotateRefusals = ["unknown", "revoked", "expired", "tooMany", "duplicateHash", "duplicateId"] as const;

export function refused<Outcome extends string>(
  outcome: unknown,
  known: readonly Outcome[],
): { outcome: Outcome } {
  return { outcome: oneOf(outcome, known) };
}

export function oneOf<Outcome extends string>(outcome: unknown, known: readonly Outcome[]): Outcome {
  const found = known.find((name) => name === outcome);
  if (found === undefined) throw new Error(`unexpected answer of a key script: ${String(outcome)}`);
  return found;
}
