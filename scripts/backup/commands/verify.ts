import { CommandError } from "../../../lib/cli/command.ts";
import { json, table } from "../../../lib/cli/format.ts";
import { findBackup } from "../archive/backup-folder.ts";
import { readReaderKeys } from "../archive/key-files.ts";
import type { BackupCommand } from "../command.ts";
import { verifyBackup } from "../verify/verify-backup.ts";

export const verifyCommand: BackupCommand = {
  name: "verify",
  positionals: ["[BACKUP]"],
  summary: "Restores a backup into empty temporary folders, starts servers on it, and counts.",
  details: [
    "BACKUP is an id, a folder, or latest (the default). It needs identity.txt and verify-key.pem, PostgreSQL's programs of the",
    "server's version, a redis-server, and room for what is restored in the folder for temporary files (TMPDIR).",
  ],
  options: {},
  examples: ["verify", "verify 20270131T030000 --to /mnt/backups --keys /media/key"],
  async run({ config, positionals: [word = "latest"], env, now, json: asJson, print, note }) {
    const keys = await readReaderKeys(config.keys);
    const backup = await findBackup({ word, root: config.to, verifyKey: keys.verifyKey });
    const verified = await verifyBackup({ backup, keys, tools: config.postgresTools, env, now, note });
    const { id, takenAt } = backup.manifest;
    const isWhole = verified.every(({ problem }) => problem === undefined);
    if (asJson) print(json({ id, takenAt, isWhole, parts: verified }));
    else {
      const rows = verified.map(({ name, found, problem }) => [
        name,
        problem === undefined ? "whole" : "NOT WHOLE",
        problem ?? found,
      ]);
      print(table(["PART", "STATE", "FOUND"], rows));
    }
    if (!isWhole) throw new CommandError(`${id} cannot be relied on.`, { exitCode: 1 });
  },
};
