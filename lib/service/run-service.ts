import process from "node:process";
import type { Logger } from "pino";
import type { OptionTable } from "../cli/command.ts";
import { type Given, readProgram } from "../cli/read-program.ts";
import { ConfigError } from "../config/read-config.ts";
import { createLogger } from "../logger.ts";
import type { ReadAgain } from "../reload/reloader.ts";
import { isWorker } from "../workers/worker-link.ts";
import { exitCodes } from "./exit-codes.ts";
import { onReloadSignal } from "./reload-signal.ts";
import { runReload } from "./run-reload.ts";
import { runRestart } from "./run-restart.ts";
import type { ServiceWorkers } from "./run-workers.ts";
import { firstStopSignal } from "./stop-signals.ts";

/** What every service's configuration has. */
type ServiceConfig = {
  profile: string;
  log: { level: string; format: "json" | "pretty" };
};

export type Service<Config extends ServiceConfig> = {
  /** Names its log lines and messages: "gateway". */
  name: string;
  /** What one types before the options: `npm run gateway --`. */
  invocation: string;
  summary: string;
  configFile: string;
  /** Options beyond `--config`, `--profile` and `--check`. */
  options?: OptionTable;
  /** Reads the configuration and what it names. @throws ConfigError, or an error that `problemsOf` knows. */
  readConfig(from: {
    file: string;
    env: Readonly<Record<string, string | undefined>>;
    profile: string | undefined;
  }): Config;
  /** Lines about an error that is no ConfigError and still says what is wrong with the configuration. */
  problemsOf?(error: unknown): readonly string[] | undefined;
  /** What `--check` tells of a configuration that is in order, beside the profile. */
  describe(config: Config): string;
  /** The port of its ops server where the configuration names none: there `reload` asks. */
  opsPort: number;
  /** `reloadSoon` has it read its configuration again, with `readAgain`. */
  start(
    config: Config,
    dependencies: { logger: Logger; given: Given; readAgain: ReadAgain<Config> },
  ): Promise<{ address: object; reloadSoon(): void; stop(): Promise<void> }>;
  /** Where it may be several processes: see `createServiceWorkers`. */
  workers?: ServiceWorkers<Config>;
  /** What the line that it is up has beside its address and profile. */
  upFields?(config: Config): object;
};

/**
 * Runs a service as a process: reads its command line and configuration, starts it, stops it on SIGTERM or SIGINT. SIGHUP
 * has it read its configuration again, and so does the command `reload`, which tells how that ended. Ends with 0, with 2
 * where the command line or the configuration cannot be used, else with 1.
 */
export async function runService<Config extends ServiceConfig>(service: Service<Config>): Promise<void> {
  const [first, ...others] = process.argv.slice(2);
  if (first === "reload") return runReload(service, others);
  if (first === "restart" && service.workers !== undefined) return runRestart(service, others);
  const read = readProgram(
    {
      invocation: service.invocation,
      summary: service.summary,
      options: {
        config: { value: "FILE", text: "the configuration", default: service.configFile },
        profile: { value: "NAME", text: "development or production, instead of the file's" },
        ...service.options,
        check: { text: "checks the configuration, starts nothing" },
      },
      details: [
        `${service.invocation} reload has a running process read its configuration again; so does SIGHUP.`,
        ...(service.workers === undefined
          ? []
          : [
              `${service.invocation} restart replaces the processes of one with workers, one after the other; so does SIGUSR2.`,
            ]),
      ],
    },
    process.argv.slice(2),
    (given) => given,
  );
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable") return refuse(read.text);
  const given = read.options;
  const file = given.needText("config");
  const readAgain = () => readOrProblems({ service, file, profile: given.text("profile") });
  if (isWorker() && service.workers !== undefined) return service.workers.runAsWorker({ given, readAgain });
  const found = readAgain();
  if ("problems" in found) {
    return refuse(`The ${service.name}'s configuration cannot be used:\n  ${found.problems.join("\n  ")}\n`);
  }
  const { config } = found;
  if (given.has("check")) {
    process.stdout.write(`${file} is in order: ${config.profile} profile, ${service.describe(config)}\n`);
    return;
  }
  await run(service, { config, given, readAgain });
}

function readOrProblems<Config extends ServiceConfig>({
  service: { readConfig, problemsOf },
  file,
  profile,
}: {
  service: Service<Config>;
  file: string;
  profile: string | undefined;
}): ReturnType<ReadAgain<Config>> {
  try {
    return { config: readConfig({ file, env: process.env, profile }) };
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : problemsOf?.(error);
    if (problems === undefined) throw error;
    return { problems };
  }
}

async function run<Config extends ServiceConfig>(
  service: Service<Config>,
  { config, given, readAgain }: { config: Config; given: Given; readAgain: ReadAgain<Config> },
): Promise<void> {
  const { name, upFields } = service;
  const logger = createLogger({ name, ...config.log });
  const { signalled, hear } = onReloadSignal(firstStopSignal);
  try {
    const started = await Promise.race([begin(service, { config, logger, given, readAgain }), signalled]);
    if (typeof started === "string") process.exit(exitCodes.done);
    hear(() => started.reloadSoon());
    logger.info({ ...started.address, profile: config.profile, ...upFields?.(config) }, `${name} is up`);
    if (started.restartSoon !== undefined) process.on("SIGUSR2", started.restartSoon);
    const signal = await signalled;
    // Not in one line: the level may have changed meanwhile, and `logger.info` would be the function of the old one.
    logger.info({ signal }, "stopping");
    await started.stop();
    logger.info("stopped");
  } catch (error) {
    logger.fatal({ err: error }, error instanceof Error ? error.message : `the ${name} could not start`);
    process.exitCode = exitCodes.failed;
  }
}

type Started = {
  address: object;
  reloadSoon(): void;
  /** Undefined where one process serves. */
  restartSoon?: () => void;
  stop(): Promise<void>;
};

function begin<Config extends ServiceConfig>(
  { start, workers }: Service<Config>,
  { config, logger, ...more }: { config: Config; logger: Logger; given: Given; readAgain: ReadAgain<Config> },
): Promise<Started> {
  if (workers === undefined || workers.count(config) === 1) return start(config, { logger, ...more });
  return workers.startPrimary(config, { logger });
}

function refuse(text: string): void {
  process.stderr.write(text);
  process.exitCode = exitCodes.unusable;
}
