import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type OpsServer, startOpsServer } from "../ops-server.ts";
import type { ReloadReport } from "../reload/reloader.ts";
import { differsOnDisk } from "../version.ts";
import { createAnswers } from "./answers.ts";
import type { FromWorker, Task } from "./messages.ts";
import { reloadAll } from "./reload-all.ts";
import { createMetricSum } from "./sum-metrics.ts";
import { createSupervisor, type Slot } from "./supervisor.ts";
import { registerWorkerMetrics } from "./worker-metrics.ts";
import {
  silentMsDefault,
  startWorkerProcess,
  type WorkerCommand,
  type WorkerProcess,
} from "./worker-process.ts";

export type PrimaryOptions = {
  /** Of the service. */
  name: string;
  workers: number;
  /** Name of the one process beside the workers; undefined: there is none. */
  side: string | undefined;
  command: WorkerCommand;
  env: Readonly<Record<string, string | undefined>>;
  listener: { host: string; port: number };
  ops: { host: string; port: number; hosts: readonly string[] };
  /** What no replacement may have otherwise: the primary goes by its own. */
  fixed: Readonly<Record<string, string>>;
  /** How long a worker may take to stop. */
  stopWithinMs: number;
  /** Members of a worker's status that are the same in all. */
  shared: readonly string[];
  logger: Logger;
  silentMsMax?: number;
};

export type Primary = {
  address: { host: string; port: number; opsHost: string; opsPort: number };
  reloadSoon(): void;
  /** Replaces the processes one after the other, if that may be done now. */
  restartSoon(): void;
  stop(): Promise<void>;
};

/** Why the workers could not be started. */
export class WorkersError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "WorkersError";
    this.problems = problems;
  }
}

type Restart = {
  state: "running" | "done" | "refused";
  beganAt: string;
  replaced: number;
  of: number;
  problems: readonly string[];
};

/**
 * The one process that an operator deals with where several serve: it starts them, replaces those that end, has all of them
 * take a new configuration or none, and answers at the ops port for all. It serves nobody itself, so little can end it; if it
 * is killed the others stop.
 *
 * @throws WorkersError where a worker cannot start; Error where a port is taken.
 */
export async function startPrimary(options: PrimaryOptions): Promise<Primary> {
  const { name, workers, side, command, env, listener, fixed, stopWithinMs, logger } = options;
  const { silentMsMax = silentMsDefault } = options;
  const slots: Slot[] = [
    ...(side === undefined ? [] : [{ name: side, role: "side" as const }]),
    ...Array.from({ length: workers }, (_, index) => ({
      name: `worker-${index + 1}`,
      role: "worker" as const,
    })),
  ];
  const metricSum = createMetricSum();
  const registry = new Registry();
  const deaths = registerWorkerMetrics(registry, { slots, serving: () => supervisor.serving().length });
  /** What a process that begins has to know. */
  let settings: unknown;
  let parts: Task["parts"] = {};
  /** What a process that replaces the side process has told before it is the one. */
  let held: Task["parts"][] = [];
  let state: "starting" | "serving" | "stopping" = "starting";
  let restart: Restart | undefined;
  let isBusy = false;

  const supervisor = createSupervisor({
    slots,
    spawn({ name: worker, role }) {
      if (role === "side") held = [];
      // While all are replaced each reads its files, as this is how a new configuration gets in that needs a restart.
      const given = restart?.state === "running" && restart.replaced === 0 ? undefined : settings;
      const isFirst = state === "starting";
      const task = { name: worker, role, workers, listener, fixed, settings: given, isFirst, parts };
      const started = startWorkerProcess({
        command,
        env,
        task,
        silentMsMax,
        onMessage: (message) => pass(started, message),
      });
      return started;
    },
    stopWithinMs: () => stopWithinMs,
    onServing(worker, start) {
      if ("settings" in start && worker.role === "worker") settings ??= start.settings;
    },
    onTookOver(worker) {
      if (worker.role === "worker") return;
      for (const each of held.splice(0)) tellWorkers(each);
    },
    onEnded(worker, { asked }) {
      void metricSum.keep(worker.lastMetrics());
      if (!asked && state === "serving") deaths.inc({ worker: worker.name });
    },
    logger,
  });

  function tellWorkers(news: Task["parts"]): void {
    parts = { ...parts, ...news };
    for (const worker of supervisor.all()) {
      if (worker.role === "worker") worker.send({ kind: "parts", parts: news });
    }
  }

  function pass(from: WorkerProcess, message: FromWorker & { kind: "parts" | "told" }): void {
    if (message.kind === "told") {
      for (const worker of supervisor.serving("side")) {
        worker.send({ kind: "told", value: message.value });
      }
    } else if (from.role === "side") {
      if (!supervisor.isWaiting(from)) tellWorkers(message.parts);
      else if (held.push(message.parts) > heldMax) held.shift();
    }
  }

  const answers = createAnswers({
    name,
    supervisor,
    metricSum,
    registry,
    shared: options.shared,
    state: () => state,
    restart: () => restart,
  });

  async function reload({ dryRun }: { dryRun: boolean }): Promise<ReloadReport> {
    if (state !== "serving")
      return { outcome: "refused", problems: ["the process starts or stops just now"] };
    if (isBusy) return { outcome: "too_soon", retryAfterMs: 1000 };
    isBusy = true;
    try {
      const done = await reloadAll({ supervisor, dryRun });
      if (done.settings !== undefined) settings = done.settings;
      const facts = { outcome: done.report.outcome, dryRun };
      logger.info(facts, "all workers were asked to read their configuration again");
      return done.report;
    } finally {
      isBusy = false;
    }
  }

  /** Undefined where it has begun. */
  function beginRestart(): string | undefined {
    if (state !== "serving") return "the process starts or stops just now";
    if (isBusy) return "a reload or a restart is under way";
    isBusy = true;
    const began: Restart = {
      state: "running",
      beganAt: new Date().toISOString(),
      replaced: 0,
      of: slots.length,
      problems: [],
    };
    restart = began;
    logger.info({ processes: slots.length }, "all processes are replaced, one after the other");
    const remains = differsOnDisk();
    if (remains !== undefined) logger.warn(remains);
    void carryOut(began).finally(() => {
      isBusy = false;
    });
    return undefined;
  }

  async function carryOut(running: Restart): Promise<void> {
    const before = settings;
    settings = undefined;
    const problems = await supervisor.replaceAll((done) => {
      running.replaced = done;
    });
    settings ??= before;
    running.state = problems.length === 0 ? "done" : "refused";
    running.problems = problems;
    if (problems.length === 0) logger.info("all processes are replaced");
    else logger.error({ problems }, "not all processes were replaced; the others go on as they are");
  }

  let ops: OpsServer | undefined;
  const stop = async () => {
    state = "stopping";
    await supervisor.stop();
    await ops?.stop();
  };
  try {
    collectDefaultMetrics({ register: registry });
    ops = await startOpsServer({
      ...options.ops,
      registry: { contentType: registry.contentType, metrics: answers.metrics },
      readiness: answers.readiness,
      status: answers.status,
      reload: async (given) => answers.ofReload(await reload(given)),
      restart: () => answers.ofRestart(beginRestart()),
    });
    const problems = await supervisor.start();
    if (problems.length > 0) throw new WorkersError(problems);
    state = "serving";
    const { host, port } = ops;
    return {
      address: { ...listener, opsHost: host, opsPort: port },
      reloadSoon: () => void reload({ dryRun: false }),
      restartSoon() {
        const why = beginRestart();
        if (why !== undefined) logger.warn({ why }, "not restarted");
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A side process that starts tells four times a second; more than it takes to start need not be kept. */
const heldMax = 256;
