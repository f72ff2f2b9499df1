import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import type { Logger } from "pino";
import type { Given } from "../cli/read-program.ts";
import { createLogger } from "../logger.ts";
import type { ReadAgain } from "../reload/reloader.ts";
import type { Task } from "../workers/messages.ts";
import { type Primary, startPrimary } from "../workers/primary.ts";
import { runWorker, type StartedWorker } from "../workers/run-worker.ts";
import { openWorkerLink, type WorkerLink } from "../workers/worker-link.ts";
import { exitCodes } from "./exit-codes.ts";

/** What a configuration has whose service may be several processes. */
export type WorkersConfig = {
  profile: string;
  log: { level: string; format: "json" | "pretty" };
  host: string;
  port: number;
  ops: { host: string; port: number; hosts: readonly string[] };
};

/** How a service is carried out by several processes of one machine, as `runService` runs it. */
export type ServiceWorkers<Config> = {
  /** More than 1: a primary starts them. */
  count(config: Config): number;
  startPrimary(config: Config, dependencies: { logger: Logger }): Promise<Primary>;
  /** Runs this process as one that a primary has started. */
  runAsWorker(dependencies: { given: Given; readAgain: ReadAgain<Config> }): Promise<void>;
};

type Workers<Config> = {
  /** Of the service. */
  name: string;
  /** 1: one process serves, without a primary. */
  count(config: Config): number;
  /** How long a worker may take to let its answers go out and to end. */
  stopMs(config: Config): number;
  /** Name of the one process beside the workers, which serves nobody; undefined: there is none. */
  side?: string;
  /** Members of a worker's status that are the same in all. */
  shared: readonly string[];
  /** The configuration in what another worker has told of its settings; undefined where they cannot be read. */
  configIn(settings: unknown): Config | undefined;
  /** A configuration as it was read, with this process's share of what all have. */
  adapt(config: Config, task: Task): Config;
  /** Starts a worker, or the side process, as `link.task` says. */
  start(
    config: Config,
    dependencies: { logger: Logger; given: Given; readAgain: ReadAgain<Config>; link: WorkerLink },
  ): Promise<StartedWorker>;
};

/** A worker that takes longer than it may is killed, and what it has in hand is lost: so a little longer than promised. */
const stopMarginMs = 2000;

/** Lets a service be carried out by several processes. */
export function createServiceWorkers<Config extends WorkersConfig>(
  workers: Workers<Config>,
): ServiceWorkers<Config> {
  return {
    count: workers.count,
    startPrimary: (config, dependencies) => start(workers, { config, ...dependencies }),
    runAsWorker: (dependencies) => runAsWorker(workers, dependencies),
  };
}

/** @throws Error where a port is taken; WorkersError where a worker cannot start. */
async function start<Config extends WorkersConfig>(
  workers: Workers<Config>,
  { config, logger }: { config: Config; logger: Logger },
): Promise<Primary> {
  const [, program = "", ...args] = process.argv;
  const count = workers.count(config);
  logger.info({ workers: count }, `${count} workers start, which share the port`);
  if (!handsOverConnections()) {
    logger.warn(
      "net.ipv4.tcp_migrate_req is 0: a connection that is being opened while a worker is replaced may be reset; set it to 1",
    );
  }
  return startPrimary({
    name: workers.name,
    workers: count,
    side: workers.side,
    command: { program, args, execArgv: process.execArgv },
    env: process.env,
    listener: { host: config.host, port: await freePortOf(config) },
    ops: config.ops,
    fixed: fixedOf(config, workers),
    stopWithinMs: workers.stopMs(config) + stopMarginMs,
    shared: workers.shared,
    logger,
  });
}

async function runAsWorker<Config extends WorkersConfig>(
  workers: Workers<Config>,
  { given, readAgain }: { given: Given; readAgain: ReadAgain<Config> },
): Promise<void> {
  const link = await openWorkerLink();
  if (link === undefined) return;
  const { task } = link;
  const known = task.settings === undefined ? undefined : workers.configIn(task.settings);
  const found = known === undefined ? readAgain() : { config: known };
  if ("problems" in found) return refuse(link, found.problems);
  const fixed = fixedOf(found.config, workers);
  const other = Object.keys(fixed).filter((member) => fixed[member] !== task.fixed[member]);
  // What another worker has told has passed already.
  if (known === undefined && other.length > 0) {
    return refuse(
      link,
      other.map((member) => `${member} cannot change while workers are replaced: stop and start it`),
    );
  }
  const config = known ?? workers.adapt(found.config, task);
  const readShare = () => {
    const read = readAgain();
    return "problems" in read ? read : { config: workers.adapt(read.config, task) };
  };
  const logger = createLogger({ name: workers.name, ...config.log }).child({ worker: task.name });
  try {
    const started = await Promise.race([
      workers.start(config, { logger, given, readAgain: readShare, link }),
      link.stopped,
    ]);
    if ("why" in started) process.exit(exitCodes.done);
    void link.stopped.then(({ idleMs }) => {
      const timeoutMs = workers.stopMs(config) + stopMarginMs + idleMs;
      setTimeout(() => process.exit(exitCodes.failed), timeoutMs).unref();
    });
    await runWorker({ link, started, logger });
    link.close();
  } catch (error) {
    logger.fatal({ err: error }, error instanceof Error ? error.message : "it could not start");
    refuse(link, [error instanceof Error ? error.message : String(error)]);
    process.exitCode = exitCodes.failed;
  }
}

function refuse(link: WorkerLink, problems: readonly string[]): void {
  link.say({ kind: "unusable", problems: [...problems] });
  link.close();
  process.exitCode = exitCodes.unusable;
}

/**
 * Whether the kernel gives what a closing listener has not accepted to another one on its port (Linux since 5.14, ip-sysctl).
 * Where there is no such setting there is nothing to set.
 */
function handsOverConnections(): boolean {
  try {
    return readFileSync("/proc/sys/net/ipv4/tcp_migrate_req", "utf8").trim() !== "0";
  } catch {
    return true;
  }
}

/** What no worker may have otherwise than the primary, which goes by what it was started with. */
function fixedOf<Config extends WorkersConfig>(
  config: Config,
  { count }: Workers<Config>,
): Record<string, string> {
  const { host, port, ops } = config;
  return { host, port: String(port), ops: JSON.stringify(ops), workers: String(count(config)) };
}

/**
 * The port that the workers share: with SO_REUSEPORT, so another service of the same user could share it too, in silence. So
 * the port is taken alone for a moment: that fails while anybody listens there, however.
 */
async function freePortOf({ host, port }: { host: string; port: number }): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`${host}:${port} cannot be listened on: the port is taken`, { cause })),
    );
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : port;
}
