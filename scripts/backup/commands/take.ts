import { CommandError, textOf } from "../../../lib/cli/command.ts";
import { json } from "../../../lib/cli/format.ts";
import { namesOutOf, wholeNumber } from "../../../lib/cli/values.ts";
import { pruneBackups } from "../archive/backup-folder.ts";
import { readWriterKeys } from "../archive/key-files.ts";
import { takeBackup } from "../archive/take-backup.ts";
import type { BackupCommand } from "../command.ts";
import { packageVersion } from "../package-version.ts";
import { openSources, sourceNames } from "../sources.ts";

export const takeCommand: BackupCommand = {
  name: "take",
  positionals: [],
  summary: "Takes a backup of Redis, PostgreSQL and the network's keys.",
  details: [
    "Nothing is stopped, and each part is of one moment. Where one part fails there is no backup, and all that was there stays.",
    "Chains are none of it: each validator has the whole chain, and fetches it again from the others.",
  ],
  options: {
    only: {
      value: "PARTS",
      text: `with commas, out of ${sourceNames.join(", ")} (else all that the configuration names)`,
    },
    keep: { value: "N", text: "then removes all but the newest N backups" },
  },
  examples: ["take", "take --only redis,postgres --to /mnt/backups --keep 14"],
  async run({ config, values, now, json: asJson, print, note }) {
    const only = readValue(values["only"], namesOutOf(sourceNames));
    const keep = readValue(textOf(values, "keep"), wholeNumber(1000));
    const keys = await readWriterKeys(config.keys);
    const sources = openSources({ config, only, now, path: process.env["PATH"] });
    const version = packageVersion();
    const manifest = await takeBackup({ to: config.to, keys, version, now, note, ...sources });
    const removed = keep === undefined ? [] : await pruneBackups({ root: config.to, keep });
    if (asJson) return print(json({ ...manifest, removed }));
    print(`${manifest.id} is in ${config.to}.`);
    for (const id of removed) note(`${id} was removed.`);
  },
};

function readValue<Value>(
  text: unknown,
  reader: (text: string) => { value: Value } | { expected: string } | { wrong: string },
): Value | undefined {
  if (typeof text !== "string") return undefined;
  const read = reader(text);
  if ("value" in read) return read.value;
  throw new CommandError(
    "wrong" in read ? `${read.wrong}.` : `${read.expected} was expected, not "${text}".`,
    { exitCode: 2 },
  );
}
