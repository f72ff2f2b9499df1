import {
  keyChangesChannel,
  keyHistoryKey,
  keyIdsKey,
  keyLostKey,
  keyRecordKey,
  keyTeamsKey,
  keyVersionKey,
} from "../redis/keys/api-keys.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { runScript } from "../redis/run-script.ts";
import { type KeyHistory, parseKeyHistory, parseLostKeys } from "./key-history.ts";
import { type KeyRecord, keyRecordToFields, type TeamSettings } from "./key-record.ts";
import { setTeamScript } from "./key-scripts.ts";
import { confirmScript, importKeyScript } from "./restore-scripts.ts";
import { teamsMax } from "./team-store.ts";

/** Which record wins if Redis and the file differ: see `importKeyScript`. */
export type ImportMode = "keep" | "newer" | "replace";

export type ImportOutcome =
  | "created"
  | "changed"
  | "kept"
  | "unchanged"
  | "duplicateId"
  | "duplicateHash"
  | "tooMany";

const importOutcomes: readonly ImportOutcome[] = [
  "created",
  "changed",
  "kept",
  "unchanged",
  "duplicateId",
  "duplicateHash",
  "tooMany",
];

/** Brings lost keys back. `createKeyStore` includes it. */
export function createKeyRestore({ redis, keysMax }: { redis: RedisClient; keysMax: number }) {
  return {
    /** The history of the keys in Redis, and that of the keys that gateways miss, if they do. */
    async history(): Promise<{ now: KeyHistory; missing: KeyHistory | undefined }> {
      const keys = await redis.hlen(keyIdsKey);
      const [version, history, lost] = await redis.mget(keyVersionKey, keyHistoryKey, keyLostKey);
      return { now: { ...parseKeyHistory(version, history), keys }, missing: parseLostKeys(lost) };
    },

    /** Confirms what Redis holds: gateways that miss other keys accept it within a second. */
    async confirm({ above = 0 }: { above?: number } = {}): Promise<void> {
      await runScript({
        redis,
        script: confirmScript,
        keys: [keyLostKey, keyVersionKey, keyHistoryKey],
        args: [keyChangesChannel, above],
      });
    },

    /** Writes a key's record out of a backup. */
    async importKey(record: KeyRecord, mode: ImportMode): Promise<ImportOutcome> {
      const outcome = await runScript({
        redis,
        script: importKeyScript,
        keys: [keyRecordKey(record.hash), keyIdsKey, keyVersionKey, keyHistoryKey],
        args: [
          keyChangesChannel,
          record.hash,
          record.id,
          mode,
          keysMax,
          ...Object.entries(keyRecordToFields(record)).flat(),
        ],
      });
      const known = importOutcomes.find((name) => name === outcome);
      if (known === undefined) throw new Error(`unexpected answer of a key script: ${String(outcome)}`);
      return known;
    },

    /** Writes a team's settings out of a backup. A team that somebody changes meanwhile is kept as they made it. */
    async importTeam(team: TeamSettings, mode: ImportMode): Promise<ImportOutcome> {
      const before = await redis.hget(keyTeamsKey, team.name);
      const after = JSON.stringify(team);
      if (before === after) return "unchanged";
      if (before !== null && mode === "keep") return "kept";
      const outcome = await runScript({
        redis,
        script: setTeamScript,
        keys: [keyTeamsKey, keyVersionKey, keyHistoryKey],
        args: [keyChangesChannel, team.name, before ?? "", after, teamsMax],
      });
      if (outcome === "created" || outcome === "changed" || outcome === "tooMany") return outcome;
      return "kept";
    },
  };
}
