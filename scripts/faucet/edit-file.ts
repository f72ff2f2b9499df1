import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import type { AllowlistStore } from "../../faucet/allowlist/allowlist-store.ts";
import { type AllowlistEntry, readAllowlist } from "../../faucet/allowlist/read-allowlist.ts";
import { CommandError } from "../../lib/cli/command.ts";

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
  // A link to the file stays one.
  const target = await realpath(file);
  const { mode } = await stat(target);
  const beside = `${target}.new`;
  try {
    await writeFile(beside, changed, { mode });
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
  const entries = readAllowlist(file);
  const { mtimeMs } = await stat(target);
  const outcome = await store.copy({ entries, fileText: changed, changedAtMs: mtimeMs });
  if (outcome === "older") {
    throw new CommandError(
      `${file} was changed, but Redis holds the list of a file that was changed later, which counts.`,
      { exitCode: 1 },
    );
  }
  return { entries };
}
