import { json } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";
import { failUnknownKey } from "./find-key.ts";

export const revokeCommand: KeysCommand = {
  name: "revoke",
  positionals: ["ID"],
  summary: "Ends a key for good, everywhere within a second.",
  details: ["There is no way back. A second time changes nothing."],
  options: {},
  examples: ["revoke k_3fJx8mQ2LrTz"],
  async run({ positionals, store, json: asJson, print }) {
    const id = positionals[0] ?? "";
    const outcome = await store.revoke(id);
    if (outcome === "unknown") return failUnknownKey(store, id);
    if (asJson) return print(json({ id, outcome }));
    print(outcome === "revoked" ? `${id} is revoked.` : `${id} was revoked before; nothing changed.`);
  },
};
