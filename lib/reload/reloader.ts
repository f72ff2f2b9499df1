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

/** Settings that were judged and not taken yet; `settings` are those, `undefined` where they were refused. */
export type Staged<Settings> = {
  report: ReloadReport;
  settings: Settings | undefined;
  /** Takes them, within this turn of the event loop, and tells how that ended. */
  take(): ReloadReport;
};

/** A reload in two halves, for several processes that all take new settings or none does. */
export type Staging<Settings> = {
  /** Judges settings: those of the files, read now, or `given` ones that another process has read. */
  stage(given?: Settings): Staged<Settings>;
  /** Another process has refused what was asked for: the old values go on here too, and `status` says why. */
  refuse(problems: readonly string[]): void;
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
  secret = [],
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
  /** Those of them that nobody is shown. */
  secret?: readonly string[] | undefined;
  /** Does all that may fail. */
  prepare(next: Settings): Prepared;
  logger: Pick<Logger, "info" | "warn" | "error">;
  now?: () => number;
  monotonicMs?: () => number;
}): Reloader & Staging<Settings> {
  let current = comparable(running);
  let loadedAtMs = now();
  let lastReload: ReloadStatus["lastReload"];
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function judge(next: Settings): Staged<Settings> {
    const found = comparable(next);
    const changes = differencesOf(current, found, secret);
    const fixed = changes.filter(({ path }) => !isBelow(path, live));
    if (fixed.length > 0) return refuse(fixed.map(({ path }) => `${path} cannot change without a restart`));
    const prepared = prepare(next);
    if ("problems" in prepared) return refuse(prepared.problems);
    return {
      report: { outcome: "checked", changes },
      settings: next,
      take() {
        try {
          if (changes.length > 0) prepared.commit();
          current = found;
          loadedAtMs = now();
          return note({ outcome: changes.length > 0 ? "changed" : "same", changes });
        } catch (error) {
          return note({ outcome: "refused", problems: problemsOf(error) });
        }
      },
    };
  }

  function readAndJudge(): Staged<Settings> {
    const read = readAgain();
    return "problems" in read ? refuse(read.problems) : judge(load(read.config));
  }

  function stage(given?: Settings): Staged<Settings> {
    try {
      return given === undefined ? readAndJudge() : judge(given);
    } catch (error) {
      return refuse(problemsOf(error));
    }
  }

  function problemsOf(error: unknown): readonly string[] {
    if (error instanceof ConfigError) return error.problems;
    logger.error({ err: error }, "the reload failed unexpectedly");
    return ["it failed unexpectedly: see the log"];
  }

  function note(report: ReloadReport & { outcome: "changed" | "same" | "refused" }): ReloadReport {
    const problems = report.outcome === "refused" ? report.problems : [];
    lastReload = { at: new Date(now()).toISOString(), outcome: report.outcome, problems };
    if (report.outcome === "refused") {
      logger.warn({ problems }, "configuration refused, the old one goes on");
    } else logger.info({ changes: report.changes }, `configuration reloaded: ${report.outcome}`);
    return report;
  }

  function refuse(problems: readonly string[]): Staged<Settings> {
    const report: ReloadReport = { outcome: "refused", problems };
    return { report, settings: undefined, take: () => note(report) };
  }

  function reload({ dryRun = false }: { dryRun?: boolean } = {}): ReloadReport {
    const waitMs = nextAtMs - monotonicMs();
    if (waitMs > 0) return { outcome: "too_soon", retryAfterMs: Math.ceil(waitMs) };
    nextAtMs = monotonicMs() + intervalMs;
    const staged = stage();
    return dryRun ? staged.report : staged.take();
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
    stage,
    refuse: (problems) => void refuse(problems).take(),
    status: () => ({
      loadedAt: new Date(loadedAtMs).toISOString(),
      hash: hashOf(shownValues(current).filter(([path]) => isBelow(path, live) && !isBelow(path, secret))),
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
