import { join } from "node:path";
import { json } from "../../../lib/cli/format.ts";
import { keyFileNames, makeKeyFiles } from "../archive/key-files.ts";
import type { BackupCommand } from "../command.ts";

export const initCommand: BackupCommand = {
  name: "init",
  positionals: [],
  summary: "Makes the keys of the backups.",
  details: [
    `${keyFileNames.recipients} and ${keyFileNames.signing} stay here: with them backups are written, and none is read.`,
    `Put ${keyFileNames.identity} and ${keyFileNames.verify} away from this machine: who has lost them has lost every backup.`,
    `${keyFileNames.recipients} may name more people, an age1… a line. The standard tool age reads the files, too.`,
  ],
  options: {},
  examples: ["init --keys /etc/tollgate/backup-keys"],
  async run({ config, json: asJson, print, note }) {
    const { recipient } = await makeKeyFiles(config.keys);
    if (asJson) return print(json({ folder: config.keys, recipient }));
    print(`The keys of the backups are in ${config.keys}.`);
    note(
      `Now put ${join(config.keys, keyFileNames.identity)} and ${keyFileNames.verify} away from this machine, twice. Without them no backup can be read.`,
    );
  },
};
