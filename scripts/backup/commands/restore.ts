import { join } from "node:path";
import { readManifest } from "../../../genesis/manifest.ts";
import { CommandError, textOf } from "../../../lib/cli/command.ts";
import { json } from "../../../lib/cli/format.ts";
import { nameOutOf } from "../../../lib/cli/values.ts";
import { commandLike } from "../../network/command-like.ts";
import { withChangeLock } from "../../network/validators/change-lock.ts";
import { type FoundBackup, findBackup } from "../archive/backup-folder.ts";
import { type ReaderKeys, readReaderKeys } from "../archive/key-files.ts";
import { type BackupPart, type PartName, partNames } from "../archive/manifest.ts";
import { readSealed } from "../archive/sealed-file.ts";
import type { BackupCommand, CommandInput } from "../command.ts";
import { fillEmptyVolume } from "../parts/fill-volume.ts";
import { asksForValidator, findValidator, validatorOptions } from "../parts/validator-network.ts";
import { restorePart, type Until } from "../restore-part.ts";

export const restoreCommand: BackupCommand = {
  name: "restore",
  positionals: ["BACKUP", "PART"],
  summary: "Restores a part of a backup into an empty folder: all of it or nothing.",
  details: [
    `BACKUP is an id, a folder, or latest. PART is one of ${partNames.join(", ")}.`,
    "The folder is the data folder of a server that is not started yet. PostgreSQL replays its log at its first start.",
    "validator goes into the data of --validator N, which is down and wiped (npm run network -- stop N, wipe N), or into a folder.",
    "Nothing is restored over what is there. It asks for identity.txt and verify-key.pem among --keys.",
  ],
  options: {
    into: { value: "FOLDER", text: "the folder to fill" },
    ...validatorOptions,
    until: {
      value: "TIME",
      text: "of postgres: latest, backup (nothing behind the backup), or a time such as 2027-01-31T12:00:00Z (else latest)",
    },
    "genesis-hash": { value: "0xHASH", text: "refuse a backup of another network" },
  },
  examples: [
    "restore latest postgres --into /restore/postgres --until 2027-01-31T12:00:00Z",
    "restore 20270131T030000 redis --into .data/redis",
    "restore latest validator --validator 3",
  ],
  async run(input) {
    const { config, values, json: asJson, now, print, note } = input;
    const [word = "", asked = ""] = input.positionals;
    const read = nameOutOf(partNames)(asked);
    if (!("value" in read))
      throw new CommandError(`PART is one of ${partNames.join(", ")}, not "${asked}".`, { exitCode: 2 });
    const name: PartName = read.value;
    const keys = await readReaderKeys(config.keys);
    const backup = await findBackup({ word, root: config.to, verifyKey: keys.verifyKey, part: name });
    const { manifest } = backup;
    const part = manifest.parts.find((candidate) => candidate.name === name);
    if (part === undefined) {
      const held = manifest.parts.map((candidate) => candidate.name).join(", ");
      throw new CommandError(`${manifest.id} has no ${name}; it holds ${held}.`, { exitCode: 1 });
    }
    const found = manifest.chain?.genesisHash;
    const wanted = textOf(values, "genesis-hash");
    checkNetwork({ wanted, found });
    const until = readUntil({ text: textOf(values, "until"), part });
    if (part.name === "validator") {
      const { into, afterwards: steps } = await restoreValidator(input, { backup, part, keys, wanted });
      if (asJson) return print(json({ restored: name, from: manifest.id, into }));
      print(
        `The data of ${part.facts.validator}, at block ${part.facts.height}, of ${manifest.takenAt} is in ${into}.`,
      );
      for (const line of steps) note(line);
      return;
    }
    if (asksForValidator(values))
      throw new CommandError("--validator is for the part validator.", { exitCode: 2 });
    const folder = textOf(values, "into");
    if (folder === undefined)
      throw new CommandError("--into is missing: the folder to fill.", { exitCode: 2 });
    const { logUntil, revokedKeys } = await restorePart({ backup, part, folder, until, keys, now });
    if (asJson)
      return print(json({ restored: name, from: manifest.id, into: folder, logUntil, revokedKeys }));
    print(`${name} of ${manifest.takenAt} is in ${folder}.`);
    if (name === "postgres") note(`The archive knows of ${revokedKeys} keys of merchants that were revoked.`);
    for (const line of afterwards(name)) note(line);
  },
};

/** Refuses another network's, and what is not said to be of the right one: Besu would begin a chain that nobody shares. */
async function restoreValidator(
  input: CommandInput,
  {
    backup,
    part,
    keys,
    wanted,
  }: {
    backup: FoundBackup;
    part: Extract<BackupPart, { name: "validator" }>;
    keys: ReaderKeys;
    wanted: string | undefined;
  },
): Promise<{ into: string; afterwards: readonly string[] }> {
  const { config, values, now } = input;
  const folder = textOf(values, "into");
  const found = backup.manifest.chain?.genesisHash;
  const intoFolder = (into: string) =>
    restorePart({ backup, part, folder: into, until: "backup", keys, now });
  const version = `It is of Besu ${part.facts.besu || "of an unknown version"}: an older one may not open it.`;
  if (!asksForValidator(values)) {
    if (folder === undefined)
      throw new CommandError("Where to is missing: --validator N, or --into FOLDER.", { exitCode: 2 });
    const own = config.networkFolder === "" ? undefined : readManifest(config.networkFolder);
    if (own !== undefined && "problem" in own) throw new CommandError(own.problem, { exitCode: 1 });
    if (own === undefined && wanted === undefined)
      throw new CommandError("For which network is missing: --genesis-hash 0xHASH.", { exitCode: 2 });
    checkNetwork({ wanted: own?.manifest.genesisHash, found });
    await intoFolder(folder);
    return { into: folder, afterwards: [version] };
  }
  if (folder !== undefined)
    throw new CommandError("--into and --validator do not go together: either one says where to.", {
      exitCode: 2,
    });
  const { network, node, data } = await findValidator(input, new AbortController().signal);
  checkNetwork({ wanted: network.manifest.genesisHash, found });
  const number = node.name.replace("validator-", "");
  const like = (words: string) => `npm run network -- ${commandLike(network, `${words} ${number}`)}`;
  await withChangeLock(network.folder, async () => {
    if (await network.nodes.isRunning(node.name))
      throw new CommandError(`${node.name} runs. Nothing is restored under it: ${like("stop")}`, {
        exitCode: 1,
      });
    try {
      if (data.kind === "folder") await intoFolder(data.folder);
      else
        await fillEmptyVolume({
          data,
          name: node.name,
          fill: (sink) =>
            readSealed({
              file: join(backup.folder, part.file),
              known: part,
              identities: keys.identities,
              sink,
            }),
        });
    } catch (error) {
      if (error instanceof CommandError && error.message.includes("is not empty"))
        throw new CommandError(`${error.message}\nIts own chain goes with: ${like("wipe")}`, { exitCode: 1 });
      throw error;
    }
  });
  return { into: `${node.name}'s data`, afterwards: [version, `Now: ${like("start")}`] };
}

function checkNetwork({ wanted, found }: { wanted: string | undefined; found: string | undefined }): void {
  if (wanted === undefined || wanted.toLowerCase() === found) return;
  throw new CommandError(
    found === undefined
      ? "The backup does not say of which network it is: it has no keys of one."
      : `The backup is of another network: its genesis block is ${found}. Nothing was restored.`,
    { exitCode: 1 },
  );
}

function readUntil({ text, part }: { text: string | undefined; part: BackupPart }): Until {
  if (part.name !== "postgres") {
    if (text === undefined) return "backup";
    throw new CommandError("--until is for postgres: the other parts are of the time of the backup.", {
      exitCode: 2,
    });
  }
  if (text === undefined || text === "latest") return "latest";
  if (text === "backup") return "backup";
  // With its zone: a night's difference would be a wrong database.
  const until = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? new Date(text)
    : undefined;
  if (until === undefined || Number.isNaN(until.getTime())) {
    throw new CommandError(
      `--until: latest, backup or a time with its zone, such as 2027-01-31T12:00:00Z, was expected, not "${text}".`,
      {
        exitCode: 2,
      },
    );
  }
  if (until < new Date(part.facts.finishedAt)) {
    throw new CommandError(
      `This backup was finished at ${part.facts.finishedAt}: for an earlier time take an older one.`,
      {
        exitCode: 1,
      },
    );
  }
  return until;
}

/** What has to be done before anybody is served; the runbook's chapter "Back up and restore" says more. */
function afterwards(name: PartName): readonly string[] {
  const lines: Record<PartName, readonly string[]> = {
    redis: [
      "API keys count as lost until you confirm them, because one that was revoked since would be good again:",
      "revoke what was revoked since, then: npm run keys -- confirm",
    ],
    "redis-faucet": [
      "Payments since then stand on the chain. The faucet finds them at its start, before it pays anybody.",
    ],
    postgres: [
      "At its first start PostgreSQL replays its log and then takes writes. Merchants' keys and sessions of before are refused until:",
      "npm run api -- confirm, which revokes again what was revoked and ends all sessions. The runbook (Back up and restore) has the rest.",
    ],
    keys: [],
    validator: [],
  };
  return lines[name];
}
