import { count, json } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";

export const confirmCommand: KeysCommand = {
  name: "confirm",
  positionals: [],
  summary: "Says that the keys which Redis holds now are the ones that are meant.",
  details: [
    "For a Redis that was emptied or went back to an earlier state: until then gateways call no key unknown and wait",
    "for the lost ones to come back (import). After it the lost ones are gone, and revocations among them too.",
  ],
  options: {},
  examples: ["confirm"],
  async run({ store, json: asJson, print }) {
    const { now, missing } = await store.history();
    await store.confirm({ above: missing?.version ?? 0 });
    if (asJson) return print(json({ keys: now.keys, keysBefore: missing?.keys ?? null }));
    const before = missing === undefined ? "" : ` (there were ${count(missing.keys)})`;
    print(`${count(now.keys)} keys are what is meant${before}.`);
  },
};
