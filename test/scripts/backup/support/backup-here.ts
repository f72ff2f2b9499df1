import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { runBackup } from "../../../../scripts/backup/run-backup.ts";
import { testFolder } from "../../../helpers/test-folder.ts";

/** `npm run backup -- …` in this process, with a folder and keys of the test's own. */
export async function backupHere(
  t: Test,
  env: Readonly<Record<string, string>> = {},
  {
    folder = testFolder(t),
    signal = new AbortController().signal,
  }: { /** Else the test's own, made anew. */ folder?: string; signal?: AbortSignal } = {},
) {
  const [to, keys] = [join(folder, "backups"), join(folder, "keys")];
  const all = {
    PATH: process.env["PATH"],
    // No npm start of the developer's is meant.
    TOLLGATE_PROFILE: "production",
    BACKUP_TO: to,
    BACKUP_KEYS: keys,
    ...env,
  };
  const backup = async (...args: string[]) => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runBackup({
      args,
      env: all,
      interruption: () => signal,
      now: Date.now,
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  const must = async (...args: string[]) => {
    const done = await backup(...args);
    if (done.code !== 0) throw new Error(`backup ${args.join(" ")}: ${done.err}`);
    return done;
  };
  if (!existsSync(all.BACKUP_KEYS)) await must("init");
  return { backup, must, folder, to, keys };
}
