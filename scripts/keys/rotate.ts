import { CommandError, textOf } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";
import { failUnknownKey } from "./find-key.ts";
import { expiryText, keyToJson } from "./key-view.ts";
import { readDurationMs, readExpiryMs } from "./read-values.ts";
import { handOutSecret } from "./secret-note.ts";

const overlapDefault = "24h";

export const rotateCommand: KeysCommand = {
  name: "rotate",
  positionals: ["ID"],
  summary: "Makes a new secret for a key; the old one stays good until the overlap ends.",
  details: [
    "The new key has an id of its own, and team, label, permissions, limit, origins and expiry of the old one.",
    "A secret that leaked is revoked instead, after a new key was made.",
  ],
  options: {
    overlap: {
      value: "TIME",
      text: `how long the old secret stays good: 30m, 24h, 7d, 0 (else ${overlapDefault})`,
    },
    expires: { value: "WHEN", text: "expiry of the new key (else that of the old one)" },
  },
  examples: ["rotate k_3fJx8mQ2LrTz --overlap 24h"],
  async run({ values, positionals, store, json: asJson, print, note }) {
    const id = positionals[0] ?? "";
    const nowMs = await store.nowMs();
    const expiresAtMs = readExpiryMs(values, "expires", nowMs);
    const result = await store.rotate({
      id,
      overlapMs: readDurationMs("overlap", textOf(values, "overlap") ?? overlapDefault),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    });
    if (result.outcome === "unknown") return failUnknownKey(store, id);
    if (result.outcome === "alreadyRotated") {
      throw new CommandError(`${id} was rotated already, to ${result.rotatedTo}: rotate that one.`, {
        exitCode: 1,
      });
    }
    if (result.outcome !== "rotated") {
      const why = reasons[result.outcome] ?? result.outcome;
      throw new CommandError(`${id} cannot be rotated: ${why}.`, { exitCode: 1 });
    }
    const { key, previous, secret } = result;
    if (asJson) {
      return print(json({ key: keyToJson(key, nowMs), previous: keyToJson(previous, nowMs), secret }));
    }
    note(`${previous.id} ends ${expiryText(previous, nowMs)}.`);
    note(`New key ${key.id} of team ${key.team} (${key.label}); expires: ${expiryText(key, nowMs)}.`);
    handOutSecret({ secret, print, note });
  },
};

const reasons: Readonly<Record<string, string>> = {
  revoked: "it is revoked; make a new one with create",
  expired: "it has expired; make a new one with create",
  tooMany: "there are as many keys as there may be",
};
