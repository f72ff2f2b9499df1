import { readFile, stat } from "node:fs/promises";
import type { Logger } from "pino";
import { ConfigError } from "../../lib/config/read-config.ts";
import type { AllowlistStore } from "./allowlist-store.ts";
import { readAllowlist } from "./read-allowlist.ts";

export type AllowlistWatch = {
  /** What is wrong with the file as it is now, with its line; `undefined` while the list in use is the file's. */
  problem(): string | undefined;
  /** Looks now, for who has changed the settings. */
  look(): void;
  stop(): Promise<void>;
};

/**
 * Copies the allowlist's file into Redis, at the start and whenever one of them has changed: the file is looked at every
 * `allowlistPollMs` (a rename or a mounted volume tells no watcher), and so is Redis, which may have lost its list. A file
 * that cannot be used changes nothing. The settings are read for each look; another file in the place of one counts as that
 * file's change.
 */
export async function watchAllowlist({
  settings,
  store,
  logger,
}: {
  settings: { readonly allowlistFile: string; readonly allowlistPollMs: number };
  store: AllowlistStore;
  logger: Pick<Logger, "info" | "warn" | "error">;
}): Promise<AllowlistWatch> {
  let problem: string | undefined;
  /** The file as it was when it was last copied, or was found to be older. */
  let lastText: string | undefined;

  function say(file: string, found: string | undefined): void {
    if (found !== problem && found !== undefined) {
      logger.error({ file, problem: found }, "the allowlist's file cannot be used; the list before it holds");
    }
    problem = found;
  }

  async function look(): Promise<void> {
    const file = settings.allowlistFile;
    try {
      const [fileText, { mtimeMs }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
      const entries = readAllowlist(file);
      const wasSeenToChange = lastText !== undefined && lastText !== fileText;
      const outcome = await store.copy({ entries, fileText, changedAtMs: mtimeMs, wasSeenToChange });
      lastText = fileText;
      if (outcome === "copied") logger.info({ file, entries: entries.length }, "allowlist copied into Redis");
      say(
        file,
        outcome === "older"
          ? "another replica's file was changed later and counts (touch this one to make it count)"
          : undefined,
      );
    } catch (error) {
      if (error instanceof ConfigError) say(file, withoutFolder(error.problems));
      else if (error instanceof Error && "code" in error) say(file, `cannot be read (${String(error.code)})`);
      // What is left is a Redis that does not answer, which others tell of; the next look copies.
    }
  }

  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isAskedAgain = false;
  let looking: Promise<void> | undefined;

  function lookInTurn(): Promise<void> {
    clearTimeout(timer);
    looking = look().then(() => {
      looking = undefined;
      if (isStopped) return;
      if (isAskedAgain) {
        isAskedAgain = false;
        void lookInTurn();
      } else timer = setTimeout(lookInTurn, settings.allowlistPollMs);
    });
    return looking;
  }

  await lookInTurn();
  return {
    problem: () => problem,
    look() {
      if (looking === undefined) void lookInTurn();
      else isAskedAgain = true;
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
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
