import { json, table } from "../../../lib/cli/format.ts";
import { findBackup, listBackups } from "../archive/backup-folder.ts";
import { size } from "../archive/take-backup.ts";
import type { BackupCommand } from "../command.ts";

export const listCommand: BackupCommand = {
  name: "list",
  positionals: [],
  summary: "Lists the backups, oldest first.",
  details: ["By what their manifests say. `verify` looks whether it is true."],
  options: {},
  examples: ["list", "list --to /mnt/backups --json"],
  async run({ config, json: asJson, print }) {
    const names = await listBackups(config.to);
    const manifests = await Promise.all(
      names.map(async (word) => (await findBackup({ word, root: config.to, verifyKey: undefined })).manifest),
    );
    if (asJson) return print(json(manifests));
    if (manifests.length === 0)
      return print(`There is no backup in ${config.to} yet: npm run backup -- take`);
    const rows = manifests.map(({ id, takenAt, parts }) => [
      id,
      takenAt.slice(0, 19).replace("T", " "),
      size(parts.reduce((sum, { bytes }) => sum + bytes, 0)),
      parts.map(({ name }) => name).join(", "),
    ]);
    print(table(["ID", "TAKEN (UTC)", "SIZE", "HOLDS"], rows));
  },
};
