import { CommandError } from "../../lib/cli/command.ts";
import { json } from "../../lib/cli/format.ts";
import { writeBackup } from "../../lib/keys/key-backup.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import type { KeysCommand } from "./command.ts";
import { replaceFile } from "./replace-file.ts";

/** A backup must be of one moment. If the keys change all the time, it gives up after this many attempts. */
const attemptsMax = 5;

export const exportCommand: KeysCommand = {
  name: "export",
  positionals: ["FILE"],
  summary: "Writes a backup of all keys and teams to a file that only you can read.",
  details: [
    "JSON Lines: hashes, permissions, limits, expiry and revocations, of one moment. No secret is in it, but a weak",
    "development key can be guessed by its hash. The file is replaced whole, or left as it is; - is",
    "stdout.",
  ],
  options: {},
  examples: ["export /var/backups/tollgate-keys.jsonl"],
  async run({ positionals, store, json: asJson, print, note }) {
    const file = positionals[0] ?? "";
    const { text, keys, teams, problems } = await readAll(store);
    if (file === "-") print(text.trimEnd());
    else await replaceFile({ file, text, what: "The backup" });
    for (const problem of problems) note(problem);
    if (file === "-") note(`${keys} keys and ${teams} teams.`);
    else if (asJson) print(json({ file, keys, teams, problems }));
    else print(`${keys} keys and ${teams} teams are in ${file}.`);
    if (problems.length > 0) {
      throw new CommandError(`${problems.length} records cannot be read and are not in the file.`, {
        exitCode: 1,
      });
    }
  },
};

async function readAll(store: KeyStore) {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const { now: history } = await store.history();
    const { keys, corrupt } = await store.list();
    const { teams, corrupt: corruptTeams } = await store.listTeams();
    if ((await store.history()).now.version !== history.version) continue;
    const text = writeBackup({ history, exportedAtMs: await store.nowMs(), teams, keys });
    const problems = [
      ...corrupt.map(({ id, problem }) => `${id} cannot be read: ${problem}`),
      ...corruptTeams.map(({ name, problem }) => `Team ${name} cannot be read: ${problem}`),
    ];
    return { text, keys: keys.length, teams: teams.length, problems };
  }
  throw new CommandError("Keys are being changed all the time; try again when nobody does.", { exitCode: 1 });
}
