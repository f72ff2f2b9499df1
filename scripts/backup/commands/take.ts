import { CommandError, textOf } from "../../../lib/cli/command.ts";
import { json } from "../../../lib/cli/format.ts";
import { namesOutOf, wholeNumber } from "../../../lib/cli/values.ts";
import { pruneBackups } from "../archive/backup-folder.ts";
import { readWriterKeys } from "../archive/key-files.ts";
import { takeBackup } from "../archive/take-backup.ts";
import type { BackupCommand } from "../command.ts";
import { packageVersion } from "../package-version.ts";
import { validatorSource } from "../parts/validator-data.ts";
import { asksForValidator, findValidator, validatorOptions } from "../parts/validator-network.ts";
import { askedNames, openSources } from "../sources.ts";

export const takeCommand: BackupCommand = {
  name: "take",
  positionals: [],
  summary: "Takes a backup of Redis, PostgreSQL and the network's keys.",
  details: [
    "Nothing is stopped, and each part is of one moment. Where one part fails there is no backup, and all that was there stays.",
    "--validator N takes the database of one validator, too, so that another one need not fetch years of blocks from the others.",
    "That validator is stopped meanwhile, and started again whatever happens. Refused where the chain would stand without it.",
  ],
  options: {
    only: {
      value: "PARTS",
      text: `with commas, out of ${askedNames.join(", ")} (else all that the configuration names)`,
    },
    ...validatorOptions,
    keep: { value: "N", text: "then removes all but the newest N backups" },
  },
  examples: [
    "take",
    "take --only redis,postgres --to /mnt/backups --keep 14",
    "take --only validator --validator 3",
  ],
  async run(input) {
    const { config, values, now, json: asJson, print, note } = input;
    const only = readValue(values["only"], namesOutOf(askedNames));
    const keep = readValue(textOf(values, "keep"), wholeNumber(1000));
    const keys = await readWriterKeys(config.keys);
    const asksFor = asksForValidator(values);
    if (only?.includes("validator") === true && !asksFor)
      throw new CommandError("Which validator is missing: --validator N.", { exitCode: 2 });
    const validator = asksFor
      ? validatorSource(await findValidator(input, input.interruption()), note)
      : undefined;
    const sources = openSources({ config, only, validator, now, path: process.env["PATH"] });
    const version = packageVersion();
    const manifest = await takeBackup({ to: config.to, keys, version, now, note, ...sources });
    const removed = keep === undefined ? [] : await pruneBackups({ root: config.to, keep });
    const tellTrouble = () => {
      const trouble = validator?.trouble();
      if (trouble !== undefined)
        throw new CommandError(`The backup ${manifest.id} is whole, but ${trouble}`, { exitCode: 1 });
    };
    if (asJson) {
      print(json({ ...manifest, removed }));
      return tellTrouble();
    }
    print(`${manifest.id} is in ${config.to}.`);
    for (const id of removed) note(`${id} was removed.`);
    tellTrouble();
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
