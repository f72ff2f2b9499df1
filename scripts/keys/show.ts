import { readUsage, type Usage } from "../../gateway/limits/usage.ts";
import { count, duration, fields, json } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";
import { findKey } from "./find-key.ts";
import { effectiveLimit, keyToFields, keyToJson } from "./key-view.ts";

export const showCommand: KeysCommand = {
  name: "show",
  positionals: ["ID"],
  summary: "Shows a key, and what it has used in the current window and today.",
  details: [
    "A day is one of UTC. Use is in points: a plain call costs one, others as config/methods.yaml says. What a busy",
    "key's gateways have taken in advance counts as used until they give it back.",
  ],
  options: {},
  examples: ["show k_3fJx8mQ2LrTz"],
  async run({ positionals, store, redis, config, json: asJson, print }) {
    const key = await findKey(store, positionals[0] ?? "");
    const team = (await store.showTeam(key.team)) ?? { name: key.team };
    const nowMs = await store.nowMs();
    const { requestsPerMinute } = config.limits;
    const limit = effectiveLimit(key, team, requestsPerMinute);
    const use = await readUsage({ redis, team: key.team, keyId: key.id });
    if (asJson) {
      const teamUse = team.capPerMinute === undefined ? {} : { teamUse: toJson(use.team) };
      return print(
        json({
          key: keyToJson(key, nowMs),
          teamSettings: team,
          limitPerMinute: limit,
          use: toJson(use.key),
          ...teamUse,
        }),
      );
    }
    const rows = keyToFields({ key, team, requestsPerMinute, nowMs });
    rows.push(["used now", windowText(use.key, limit)], ["used today", count(use.key.today)]);
    if (team.capPerMinute !== undefined) rows.push(["team now", windowText(use.team, team.capPerMinute)]);
    print(fields(rows));
  },
};

/** `window` is null where none is running. */
function toJson({ window, today }: Usage) {
  return { window: window ?? null, today };
}

function windowText({ window }: Usage, limit: number): string {
  const ends = window === undefined ? "no window is running" : `ends in ${duration(window.endsInMs)}`;
  return `${count(window?.used ?? 0)} of ${count(limit)} (${ends})`;
}
