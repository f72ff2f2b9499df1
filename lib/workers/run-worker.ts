import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Readiness } from "../ops-server.ts";
import type { Staged } from "../reload/reloader.ts";
import type { WorkerLink } from "./worker-link.ts";

/** What a worker's process runs. Settings are in a form that another process can be told. */
export type StartedWorker = {
  registry: Registry;
  readiness: () => Readiness;
  status: () => object;
  /** Those that it runs with. */
  settings: () => unknown;
  /** Judges settings: those of the files, or given ones. */
  stage: (given: unknown) => Staged<unknown>;
  /** Another worker has refused what was asked for. */
  refuse: (problems: readonly string[]) => void;
  stop: (options: { idleMs: number }) => Promise<void>;
};

/** Serves as a worker until the primary wants it to stop or has ended. What it is asked is answered from here. */
export async function runWorker({
  link,
  started,
  logger,
}: {
  link: WorkerLink;
  started: StartedWorker;
  logger: Logger;
}): Promise<void> {
  const { registry, readiness, status, settings, stage, refuse } = started;
  let staged: Staged<unknown> | undefined;

  link.answer("metrics", () => registry.getMetricsAsJSON());
  link.answer("readiness", readiness);
  link.answer("status", status);
  link.answer("stage", (value) => {
    staged = stage(settingsIn(value));
    return { report: staged.report, settings: staged.settings };
  });
  link.answer("take", (value) => {
    // The side process judges nothing: the workers have.
    staged ??= stage(settingsIn(value));
    const report = staged.take();
    staged = undefined;
    return { report, settings: undefined };
  });
  link.answer("drop", (value) => {
    staged = undefined;
    const problems = problemsIn(value);
    if (problems.length > 0) refuse(problems);
  });
  link.say({ kind: "up", settings: settings() });

  const { why, idleMs } = await link.stopped;
  logger.info({ why }, "stopping");
  await started.stop({ idleMs });
  link.say({ kind: "bye", metrics: await registry.getMetricsAsJSON() });
}

function settingsIn(value: unknown): unknown {
  return typeof value === "object" && value !== null && "settings" in value ? value.settings : undefined;
}

function problemsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null || !("problems" in value)) return [];
  return Array.isArray(value.problems) ? value.problems.map(String) : [];
}
