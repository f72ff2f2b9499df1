import { CommandError } from "../../lib/cli/command.ts";
import { count, fields, json, table } from "../../lib/cli/format.ts";
import type { TeamSettings } from "../../lib/keys/key-record.ts";
import type { KeysCommand } from "./command.ts";
import { failUnknownTeam } from "./find-key.ts";
import { readLimit, readOrigins, readOrNone } from "./read-values.ts";

export const teamSetCommand: KeysCommand = {
  name: "team set",
  positionals: ["NAME"],
  summary: "Makes a team, or changes what holds for all its keys.",
  details: ["What is not named stays as it is; the word none takes a setting away."],
  options: {
    limit: { value: "N", text: "calls a minute of each key that has no limit of its own" },
    cap: { value: "N", text: "calls a minute of all keys together" },
    origins: { value: "LIST", text: "browser origins that may use keys without origins of their own" },
  },
  examples: ["team set acme --limit 300 --cap 1000 --origins https://app.acme.example"],
  async run({ values, positionals, store, json: asJson, print }) {
    const name = positionals[0] ?? "";
    const limitPerMinute = readOrNone(values, "limit", readLimit);
    const capPerMinute = readOrNone(values, "cap", readLimit);
    const origins = readOrNone(values, "origins", readOrigins);
    const result = await store.setTeam({
      name,
      ...(limitPerMinute === undefined ? {} : { limitPerMinute }),
      ...(capPerMinute === undefined ? {} : { capPerMinute }),
      ...(origins === undefined ? {} : { origins }),
    });
    if (result.outcome === "tooMany") {
      throw new CommandError("There are as many teams as there may be.", { exitCode: 1 });
    }
    const { outcome, team } = result;
    if (asJson) return print(json({ outcome, team }));
    print(`Team ${name}: ${outcome}.\n${fields(toFields(team))}`);
  },
};

export const teamListCommand: KeysCommand = {
  name: "team list",
  positionals: [],
  summary: "Lists the teams.",
  details: [],
  options: {},
  examples: ["team list"],
  async run({ store, json: asJson, print, note }) {
    const { teams, corrupt } = await store.listTeams();
    for (const { name, problem } of corrupt) note(`Team ${name} cannot be read: ${problem}`);
    if (asJson) return print(json({ teams, corrupt }));
    if (teams.length === 0) return note("There are no teams. A first one: npm run keys -- team set NAME");
    const rows = teams.map((team) => toFields(team).map(([, value]) => value));
    print(table(["TEAM", "LIMIT A KEY", "CAP", "ORIGINS"], rows));
  },
};

export const teamShowCommand: KeysCommand = {
  name: "team show",
  positionals: ["NAME"],
  summary: "Shows what holds for all keys of a team, and how many it has.",
  details: [],
  options: {},
  examples: ["team show acme"],
  async run({ positionals, store, json: asJson, print }) {
    const name = positionals[0] ?? "";
    const team = await store.showTeam(name);
    if (team === undefined) return failUnknownTeam(store, name);
    const { keys } = await store.list({ team: name });
    if (asJson) return print(json({ team, keys: keys.map(({ id }) => id) }));
    print(fields([...toFields(team), ["keys", String(keys.length)]]));
  },
};

function toFields({ name, limitPerMinute, capPerMinute, origins }: TeamSettings): [string, string][] {
  return [
    ["team", name],
    ["limit a key", limitPerMinute === undefined ? "-" : count(limitPerMinute)],
    ["cap", capPerMinute === undefined ? "-" : count(capPerMinute)],
    ["origins", origins === undefined ? "any" : origins.join(", ")],
  ];
}
