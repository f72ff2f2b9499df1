import { readFile, stat } from "node:fs/promises";
import type { Logger } from "pino";
import { ConfigError } from "../../lib/config/read-config.ts";
import type { AllowlistStore } from "./allowlist-store.ts";
import { readAllowlist } from "./read-allowlist.ts";

export type AllowlistWatch = {
  /** What is wrong with the file as it is now, with its line; `undefined` while the list in use is the file's. */
  problem(): string | undefined;
  stop(): Promise<void>;
};

/**
 * Copies the allowlist's file into Redis, at the start and whenever one of them has changed: the file is looked at every
 * `pollMs` (a rename or a mounted volume tells no watcher), and so is Redis, which may have lost its list. A file that
 * cannot be used changes nothing.
 */
export async function watchAllowlist({
  file,
  store,
  pollMs,
  logger,
}: {
  file: string;
  store: AllowlistStore;
  pollMs: number;
  logger: Pick<Logger, "info" | "warn" | "error">;
}): Promise<AllowlistWatch> {
  let problem: string | undefined;
  /** The file as it was when it was last copied, or was found to be older. */
  let lastText: string | undefined;

  function say(found: string | undefined): void {
    if (found !== problem && found !== undefined) {
      logger.error({ file, problem: found }, "the allowlist's file cannot be used; the list before it holds");
    }
    problem = found;
  }

  async function look(): Promise<void> {
    try {
      const [fileText, { mtimeMs }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
      const entries = readAllowlist(file);
      const wasSeenToChange = lastText !== undefined && lastText !== fileText;
      const outcome = await store.copy({ entries, fileText, changedAtMs: mtimeMs, wasSeenToChange });
      lastText = fileText;
      if (outcome === "copied") logger.info({ file, entries: entries.length }, "allowlist copied into Redis");
      say(
        outcome === "older"
          ? "another replica's file was changed later and counts (touch this one to make it count)"
          : undefined,
      );
    } catch (error) {
      if (error instanceof ConfigError) say(withoutFolder(error.problems));
      else if (error instanceof Error && "code" in error) say(`cannot be read (${String(error.code)})`);
      // What is left is a Redis that does not answer, which others tell of; the next look copies.
    }
  }

  await look();
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, pollMs);
  return {
    problem: () => problem,
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** `/etc/tollgate/faucet-allowlist.yaml:7: …` as `faucet-allowlist.yaml:7: …`: the public status page shows it. */
function withoutFolder(problems: readonly string[]): string {
  const [first = ""] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return first.replace(/^.*[\\/](?=[^\\/:]+:\d+: )/, "") + more;
}
