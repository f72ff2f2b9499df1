import { textOf } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import type { KeysCommand } from "./command.ts";
import { ensureServiceKey } from "./service-key.ts";

export const serviceCommand: KeysCommand = {
  name: "service",
  positionals: ["NAME"],
  summary: "Makes a key for a service of ours and keeps it in a file; one that is good stays.",
  details: [
    "The key is of a team of that name, with a limit far above a partner's. A file whose key Redis does not know, that is",
    "revoked, expires, or is of another profile gets a new one. Only its owner can read the file.",
  ],
  options: { file: { value: "FILE", text: "where the key stands", required: true } },
  examples: ["service api --file /etc/tollgate/api-key"],
  async run({ positionals, values, store, config: { profile }, json: asJson, print }) {
    const service = positionals[0] ?? "";
    const file = textOf(values, "file") ?? "";
    const { isNew } = await ensureServiceKey({ store, service, label: `service ${service}`, file, profile });
    if (asJson) return print(json({ service, file, isNew }));
    print(
      isNew ? `${file} has a new key of team ${service}.` : `${file} has a good key; nothing was changed.`,
    );
  },
};
