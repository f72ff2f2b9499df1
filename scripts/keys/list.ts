import { textOf } from "../../lib/cli/command.ts";
import { count, json, table, time } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";
import { failUnknownTeam } from "./find-key.ts";
import { keyState, keyToJson } from "./key-view.ts";

export const listCommand: KeysCommand = {
  name: "list",
  positionals: [],
  summary: "Lists the keys that are good, oldest first.",
  details: [],
  options: {
    team: { value: "NAME", text: "of this team only" },
    all: { text: "also keys that are revoked or expired" },
  },
  examples: ["list --team acme --all"],
  async run({ values, store, json: asJson, print, note }) {
    const team = textOf(values, "team");
    if (team !== undefined && (await store.showTeam(team)) === undefined) return failUnknownTeam(store, team);
    const nowMs = await store.nowMs();
    const { keys, corrupt } = await store.list(team === undefined ? {} : { team });
    const isGood = (state: string) => state === "active" || state === "rotated";
    const shown = keys.filter((key) => values["all"] === true || isGood(keyState(key, nowMs)));
    for (const { id, problem } of corrupt) note(`${id} cannot be read: ${problem}`);
    if (asJson) return print(json({ keys: shown.map((key) => keyToJson(key, nowMs)), corrupt }));
    const rows = shown.map((key) => [
      key.id,
      key.team,
      key.label,
      key.permissions.join(","),
      key.limitPerMinute === undefined ? "-" : count(key.limitPerMinute),
      keyState(key, nowMs),
      key.expiresAtMs === undefined ? "never" : time(key.expiresAtMs),
    ]);
    if (rows.length > 0) {
      print(table(["ID", "TEAM", "LABEL", "PERMISSIONS", "OWN LIMIT", "STATE", "EXPIRES"], rows));
    }
    const hidden = keys.length - shown.length;
    if (hidden > 0) note(`${hidden} more: revoked or expired (--all shows them).`);
    else if (rows.length === 0) note("There are no keys. A first one: npm run keys -- create --help");
  },
};
