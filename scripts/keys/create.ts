import { CommandError, textOf } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";
import { failUnknownTeam } from "./find-key.ts";
import { expiryText, keyToJson } from "./key-view.ts";
import { readExpiryMs, readLimit, readOrigins, readPermissions, readProfile } from "./read-values.ts";
import { handOutSecret } from "./secret-note.ts";

/** What scripted load of a QA team needs, unless it is told otherwise. */
const qaLimitPerMinute = 600_000;

export const createCommand: KeysCommand = {
  name: "create",
  positionals: [],
  summary: "Makes a key for a team and shows its secret once.",
  details: ["The secret stands alone on stdout. It cannot be shown again: Redis holds its SHA-256 only."],
  options: {
    team: { value: "NAME", text: "the team (made by: team set NAME)", required: true },
    label: { value: "TEXT", text: "what the key is for (else the team's name)" },
    permissions: { value: "LIST", text: "out of rpc,faucet,explorer (else rpc)" },
    expires: { value: "WHEN", text: "30d, or a date such as 2027-01-31T12:00:00Z (else never)" },
    limit: { value: "N", text: "calls a minute (else the team's, else the default)" },
    origins: { value: "LIST", text: "browser origins that may use it (else the team's, else any)" },
    qa: {
      text: `for scripted load: marked as such, ${qaLimitPerMinute} calls a minute unless --limit is given`,
    },
    profile: { value: "NAME", text: "development or production (else the configuration's)" },
  },
  examples: ["create --team acme --label 'acme staging' --permissions rpc,faucet --expires 30d"],
  async run({ values, store, config, json: asJson, print, note }) {
    const nowMs = await store.nowMs();
    const profile = readProfile(values, "profile") ?? config.profile;
    const team = textOf(values, "team") ?? "";
    const qa = values["qa"] === true;
    const limitPerMinute = readLimit(values, "limit") ?? (qa ? qaLimitPerMinute : undefined);
    const origins = readOrigins(values, "origins");
    const expiresAtMs = readExpiryMs(values, "expires", nowMs);
    const result = await store.create({
      team,
      label: textOf(values, "label") ?? team,
      permissions: readPermissions(values, "permissions") ?? ["rpc"],
      qa,
      profile,
      ...(limitPerMinute === undefined ? {} : { limitPerMinute }),
      ...(origins === undefined ? {} : { origins }),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    });
    if (result.outcome === "unknownTeam") return failUnknownTeam(store, team);
    if (result.outcome !== "created") {
      throw new CommandError(`The key could not be made: ${result.outcome}.`, { exitCode: 1 });
    }
    const { key, secret } = result;
    if (asJson) return print(json({ key: keyToJson(key, nowMs), secret }));
    note(`Key ${key.id} of team ${key.team} (${key.label}), ${profile} profile.`);
    note(`Permissions ${key.permissions.join(", ")}; expires: ${expiryText(key, nowMs)}.`);
    handOutSecret({ secret, print, note });
  },
};
