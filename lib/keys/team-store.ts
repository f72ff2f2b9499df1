import { keyChangesChannel, keyHistoryKey, keyTeamsKey, keyVersionKey } from "../redis/keys/api-keys.ts";
import type { RedisClient } from "../redis/redis-client.ts";
import { runScript } from "../redis/run-script.ts";
import {
  CorruptKeyRecordError,
  parseTeamSettings,
  type TeamSettings,
  teamSettingsSchema,
} from "./key-record.ts";
import { setTeamScript } from "./key-scripts.ts";

/** A field that is absent stays as it is; `null` takes it away. */
export type TeamChange = {
  name: string;
  limitPerMinute?: number | null;
  capPerMinute?: number | null;
  origins?: string[] | null;
};

export const teamsMax = 10_000;
/** Two operators who change one team at once; more than a few rounds of that is something else. */
const conflictsMax = 5;

/** Teams in Redis: the part of the key store that `createKeyStore` passes on. */
export function createTeamStore({ redis }: { redis: RedisClient }) {
  return {
    /** Makes the team, or changes what `change` names. Throws a ZodError for settings that no team can have. */
    async setTeam(
      change: TeamChange,
    ): Promise<
      { outcome: "created" | "changed" | "unchanged"; team: TeamSettings } | { outcome: "tooMany" }
    > {
      for (let attempt = 0; attempt < conflictsMax; attempt += 1) {
        const before = await redis.hget(keyTeamsKey, change.name);
        const team = withChange(parseTeamSettings(change.name, before), change);
        const outcome = await runScript({
          redis,
          script: setTeamScript,
          keys: [keyTeamsKey, keyVersionKey, keyHistoryKey],
          args: [keyChangesChannel, team.name, before ?? "", JSON.stringify(team), teamsMax],
        });
        if (outcome === "created" || outcome === "changed" || outcome === "unchanged")
          return { outcome, team };
        if (outcome === "tooMany") return { outcome };
      }
      throw new Error(`the settings of team ${change.name} are being changed by somebody else`);
    },

    async showTeam(name: string): Promise<TeamSettings | undefined> {
      const text = await redis.hget(keyTeamsKey, name);
      return text === null ? undefined : parseTeamSettings(name, text);
    },

    /** All teams by name; those whose settings cannot be read are named beside them. */
    async listTeams(): Promise<{ teams: TeamSettings[]; corrupt: { name: string; problem: string }[] }> {
      const teams: TeamSettings[] = [];
      const corrupt: { name: string; problem: string }[] = [];
      for (const [name, text] of Object.entries(await redis.hgetall(keyTeamsKey))) {
        try {
          teams.push(parseTeamSettings(name, text));
        } catch (error) {
          if (!(error instanceof CorruptKeyRecordError)) throw error;
          corrupt.push({ name, problem: error.message });
        }
      }
      teams.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { teams, corrupt };
    },
  };
}

function withChange(before: TeamSettings, change: TeamChange): TeamSettings {
  const after: Record<string, unknown> = {};
  for (const [name, value] of Object.entries({ ...before, ...change })) {
    if (value !== null && value !== undefined) after[name] = value;
  }
  return teamSettingsSchema.parse(after);
}
