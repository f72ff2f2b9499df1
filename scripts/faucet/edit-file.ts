import { readFile, rename, stat, writeFile } from "node:fs/promises";
import type { AllowlistStore } from "../../faucet/allowlist/allowlist-store.ts";
import { type AllowlistEntry, readAllowlist } from "../../faucet/allowlist/read-allowlist.ts";
import { CommandError } from "../../lib/command-line/command.ts";

/**
 * Changes the allowlist's file and copies it into Redis, so that the change holds at once. `change` answers `undefined`
 * where there is nothing to do. The file is replaced whole: a faucet never reads half of it. A file that cannot be used
 * is not touched.
 */
export async function editAllowlist({
  file,
  store,
  change,
}: {
  file: string;
  store: AllowlistStore;
  change: (text: string) => string | undefined;
}): Promise<{ entries: AllowlistEntry[] } | undefined> {
  readAllowlist(file);
  const changed = change(await readFile(file, "utf8"));
  if (changed === undefined) return undefined;
  const { mode } = await stat(file);
  const beside = `${file}.new`;
  await writeFile(beside, changed, { mode });
  const entries = readAllowlist(beside);
  await rename(beside, file);
  const { mtimeMs } = await stat(file);
  const outcome = await store.copy({ entries, fileText: changed, changedAtMs: mtimeMs });
  if (outcome === "older") {
    throw new CommandError(
      `${file} was changed, but Redis holds the list of a file that was changed later, which counts.`,
      { exitCode: 1 },
    );
  }
  return { entries };
}
