import { readFile } from "node:fs/promises";
import { text as readText } from "node:stream/consumers";
import { CommandError } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import { BackupError, type KeyBackup, readBackup } from "../../lib/keys/key-backup.ts";
import type { KeyHistory } from "../../lib/keys/key-history.ts";
import type { ImportMode, ImportOutcome } from "../../lib/keys/key-restore.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import type { KeysCommand } from "./command.ts";

/** Records written in one pipeline, so that a long file never holds up the Redis that also counts limits. */
const chunkSize = 200;

type Counts = Partial<Record<ImportOutcome, number>>;

export const importCommand: KeysCommand = {
  name: "import",
  positionals: ["FILE"],
  summary: "Brings keys and teams of a backup back, and tells the gateways that they are whole.",
  details: [
    "What is missing is made. What is there stays as it is unless the file is newer than Redis; a revocation on either",
    "side stays in any case. A second time changes nothing. A file with a bad line changes nothing at all. FILE may be - for stdin.",
  ],
  options: {
    replace: { text: "what the file says holds, even where Redis knows of a later change or revocation" },
  },
  examples: ["import /var/backups/tollgate-keys.jsonl"],
  async run({ positionals, values, store, json: asJson, print, note }) {
    const backup = await read(positionals[0] ?? "", store);
    const { now, missing } = await store.history();
    const mode = values["replace"] === true ? "replace" : isNewer(backup, now) ? "newer" : "keep";
    const teams = await importAll(backup.teams, (team) => store.importTeam(team, mode));
    const keys = await importAll(backup.keys, (key) => store.importKey(key, mode));

    const impossible = countOf([teams, keys], ["duplicateId", "duplicateHash", "tooMany"]);
    const written = countOf([teams, keys], ["created", "changed"]);
    const confirms = impossible === 0 && (written > 0 || missing !== undefined || now.version === 0);
    if (confirms) {
      await store.confirm({ above: Math.max(backup.version, backup.begunAt, missing?.version ?? 0) });
    }
    if (asJson) print(json({ exportedAt: backup.exportedAt, mode, teams, keys, confirmed: confirms }));
    else print(`Backup of ${backup.exportedAt}.\nTeams: ${text(teams)}.\nKeys: ${text(keys)}.`);
    noteWhatStays({ backup, mode, keys, missing, note });
    if (impossible > 0) {
      throw new CommandError(
        `${impossible} could not be written: another key has the id or the secret, or there are too many. The gateways were not told that the keys are whole.`,
        { exitCode: 1 },
      );
    }
  },
};

async function read(file: string, store: KeyStore): Promise<KeyBackup> {
  const { teams } = await store.listTeams();
  const names = new Set(teams.map(({ name }) => name));
  let content: string;
  try {
    content = file === "-" ? await readText(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The backup cannot be read: ${why}`, { exitCode: 1 });
  }
  try {
    return readBackup(content, { hasTeam: (name) => names.has(name) });
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    throw new CommandError(`${file} cannot be used; nothing was changed:\n  ${error.problems.join("\n  ")}`, {
      exitCode: 1,
    });
  }
}

/** Whether the file has changes that Redis does not have, because an older state was restored. */
function isNewer({ version, begunAt }: KeyBackup, now: KeyHistory): boolean {
  return begunAt === now.begunAt ? version > now.version : begunAt > now.begunAt;
}

async function importAll<T>(
  items: readonly T[],
  write: (item: T) => Promise<ImportOutcome>,
): Promise<Counts> {
  const counts: Counts = {};
  for (let start = 0; start < items.length; start += chunkSize) {
    const outcomes = await Promise.all(items.slice(start, start + chunkSize).map(write));
    for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

function countOf(all: readonly Counts[], outcomes: readonly ImportOutcome[]): number {
  let sum = 0;
  for (const counts of all) for (const outcome of outcomes) sum += counts[outcome] ?? 0;
  return sum;
}

const words: Readonly<Record<ImportOutcome, string>> = {
  created: "made",
  changed: "changed",
  unchanged: "there already",
  kept: "kept as Redis has them",
  duplicateId: "not made, another key has the id",
  duplicateHash: "not made, another key has the secret",
  tooMany: "not made, there are too many",
};

function text(counts: Counts): string {
  const parts = Object.entries(words).flatMap(([outcome, word]) => {
    const count = Object.entries(counts).find(([name]) => name === outcome)?.[1] ?? 0;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return parts.length === 0 ? "none" : parts.join(", ");
}

function noteWhatStays({
  backup,
  mode,
  keys,
  missing,
  note,
}: {
  backup: KeyBackup;
  mode: ImportMode;
  keys: Counts;
  missing: KeyHistory | undefined;
  note: (text: string) => void;
}): void {
  if (mode === "keep" && (keys.kept ?? 0) > 0) {
    note(
      "Redis knows of later changes to the keys that were kept; --replace puts the file's word above them.",
    );
  }
  if (missing !== undefined && missing.version > backup.version) {
    const more = missing.keys - backup.keys.length;
    const which = more > 0 ? `, among them at least ${more} new keys` : "";
    note(`The gateways had seen changes after this backup${which}: revoke and make those again.`);
  }
}
