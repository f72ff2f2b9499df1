import { hash } from "node:crypto";
import type { Logger } from "pino";
import { ConfigError } from "../config/read-config.ts";
import { type Difference, differencesOf, isBelow, shownValues, textOf } from "./differences.ts";

/** Reads the configuration that the process was started with once more, with the environment of its start. */
export type ReadAgain<Config> = () => { config: Config } | { problems: readonly string[] };

/** What is left to do once nothing can fail any more; or why the configuration cannot be taken. */
export type Prepared = { commit(): void } | { problems: readonly string[] };

/**
 * How a reload ended. `changed`: the new values count from now on. `same`: nothing differs. `checked`: nothing was done, as
 * asked. `refused`: the old values go on.
 */
export type ReloadReport =
  | { outcome: "changed" | "same" | "checked"; changes: readonly Difference[] }
  | { outcome: "refused"; problems: readonly string[] }
  | { outcome: "too_soon"; retryAfterMs: number };

export type ReloadStatus = {
  loadedAt: string;
  /** Of all values that a reload may change: replicas with the same configuration have the same. */
  hash: string;
  lastReload:
    | { at: string; outcome: "changed" | "same" | "refused"; problems: readonly string[] }
    | undefined;
};

export type Reloader = {
  /** Reads, checks and takes the configuration within this turn of the event loop; with `dryRun` it takes nothing. */
  reload(options?: { dryRun?: boolean }): ReloadReport;
  /** Does it as soon as it may be done, and logs how it ended. However often it is asked meanwhile, it is done once. */
  reloadSoon(): void;
  status(): ReloadStatus;
  /** What is asked for from then on is not done: the parts that would change are stopped next. */
  stop(): void;
};

/** Reading and checking a configuration takes some milliseconds, in which nobody is answered. */
const intervalMs = 1000;

/**
 * Changes a running process's configuration as a whole or not at all: the file that it was started with is read and checked
 * as at the start, and one value that differs and is not among `live` refuses all of it. Everything happens in one turn of the event loop, so whoever
 * reads the settings before or after sees one configuration.
 *
 * Secrets: only values among `live` are ever shown; of the others no more than their name is told.
 */
export function createReloader<Config, Settings extends object>({
  running,
  readAgain,
  load,
  comparable,
  live,
  prepare,
  logger,
  now = Date.now,
  monotonicMs = () => performance.now(),
}: {
  /** What the process runs with. */
  running: Settings;
  readAgain: ReadAgain<Config>;
  /** Reads what the configuration names: other files. @throws ConfigError */
  load(config: Config): Settings;
  /** The values to compare, by their names in the file. */
  comparable(settings: Settings): object;
  /** Names of values, or of what they stand below, that may change in a running process. */
  live: readonly string[];
  /** Does all that may fail. */
  prepare(next: Settings): Prepared;
  logger: Pick<Logger, "info" | "warn" | "error">;
  now?: () => number;
  monotonicMs?: () => number;
}): Reloader {
  let current = comparable(running);
  let loadedAtMs = now();
  let lastReload: ReloadStatus["lastReload"];
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function attempt(dryRun: boolean): Exclude<ReloadReport, { outcome: "too_soon" }> {
    const read = readAgain();
    if ("problems" in read) return { outcome: "refused", problems: read.problems };
    const next = load(read.config);
    const found = comparable(next);
    const changes = differencesOf(current, found);
    const fixed = changes.filter(({ path }) => !isBelow(path, live));
    if (fixed.length > 0) {
      return {
        outcome: "refused",
        problems: fixed.map(({ path }) => `${path} cannot change without a restart`),
      };
    }
    const prepared = prepare(next);
    if ("problems" in prepared) return { outcome: "refused", problems: prepared.problems };
    if (dryRun) return { outcome: "checked", changes };
    if (changes.length > 0) prepared.commit();
    current = found;
    loadedAtMs = now();
    return { outcome: changes.length > 0 ? "changed" : "same", changes };
  }

  function attemptSafely(dryRun: boolean): ReturnType<typeof attempt> {
    try {
      return attempt(dryRun);
    } catch (error) {
      if (error instanceof ConfigError) return { outcome: "refused", problems: error.problems };
      logger.error({ err: error }, "the reload failed unexpectedly");
      return { outcome: "refused", problems: ["it failed unexpectedly: see the log"] };
    }
  }

  function reload({ dryRun = false }: { dryRun?: boolean } = {}): ReloadReport {
    const waitMs = nextAtMs - monotonicMs();
    if (waitMs > 0) return { outcome: "too_soon", retryAfterMs: Math.ceil(waitMs) };
    nextAtMs = monotonicMs() + intervalMs;
    const report = attemptSafely(dryRun);
    if (report.outcome === "checked" || dryRun) return report;
    const problems = report.outcome === "refused" ? report.problems : [];
    lastReload = { at: new Date(now()).toISOString(), outcome: report.outcome, problems };
    if (report.outcome === "refused") {
      logger.warn({ problems }, "configuration refused, the old one goes on");
    } else logger.info({ changes: report.changes }, `configuration reloaded: ${report.outcome}`);
    return report;
  }

  function reloadSoon(): void {
    if (timer !== undefined || isStopped) return;
    const waitMs = Math.max(0, Math.ceil(nextAtMs - monotonicMs()));
    timer = setTimeout(() => {
      timer = undefined;
      // A timer may fire before its time, and somebody else may have been first.
      if (reload().outcome === "too_soon") reloadSoon();
    }, waitMs).unref();
  }

  return {
    reload,
    reloadSoon,
    status: () => ({
      loadedAt: new Date(loadedAtMs).toISOString(),
      hash: hashOf(shownValues(current).filter(([path]) => isBelow(path, live))),
      lastReload,
    }),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function hashOf(values: readonly [path: string, value: unknown][]): string {
  const sorted = values.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", textOf(sorted)).slice(0, 16);
}
