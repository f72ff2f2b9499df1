import { LRUCache } from "lru-cache";
import type { FoundKey } from "../../lib/keys/key-reader.ts";
import { unheardAgeMsMax } from "./unknown-keys.ts";

/** A key's record and when it was read, in monotonic milliseconds: expiry counts from there. */
export type KnownKey = { key: FoundKey; readAtMs: number };

type Entry = { known: KnownKey; stale: boolean };

const keysMax = 20_000;
/** A record is read again so often although its changes are heard: what goes wrong unnoticed is put right by it. */
const ageMsMax = 60_000;
/** How long a record serves while Redis does not answer (gateway/README.md, "Limits"). */
const withoutRedisAgeMsMax = 5 * 60_000;

/** Records of good keys in memory, and how long each may be believed. */
export function createKnownKeys({
  hearsChanges,
  monotonicMs,
}: {
  hearsChanges: () => boolean;
  monotonicMs: () => number;
}) {
  const entries = new LRUCache<string, Entry>({ max: keysMax });

  return {
    has: (hash: string) => entries.has(hash),
    /** The record, as long as it may be believed without asking Redis. */
    fresh(hash: string, nowMs: number): KnownKey | undefined {
      const entry = entries.get(hash);
      if (entry === undefined || entry.stale) return undefined;
      const ageMs = nowMs - entry.known.readAtMs;
      return ageMs <= (hearsChanges() ? ageMsMax : unheardAgeMsMax) ? entry.known : undefined;
    },
    /** The answer while Redis gives none. */
    lastRead(hash: string): KnownKey | "unavailable" {
      const entry = entries.get(hash);
      const mayServe = entry !== undefined && monotonicMs() - entry.known.readAtMs <= withoutRedisAgeMsMax;
      return mayServe ? entry.known : "unavailable";
    },
    /** `stale`: it serves while Redis does not answer, and only then. */
    keep: (hash: string, known: KnownKey, { stale }: { stale: boolean }) =>
      void entries.set(hash, { known, stale }),
    drop: (hash: string) => void entries.delete(hash),
    dropTeam(team: string): void {
      for (const [hash, { known }] of entries.entries()) if (known.key.team === team) entries.delete(hash);
    },
    markStale(): void {
      for (const entry of entries.values()) entry.stale = true;
    },
  };
}
