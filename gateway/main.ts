import { parseArgs } from "node:util";
import { ConfigError } from "../lib/config/read-config.ts";
import { createLogger } from "../lib/logger.ts";
import { type GatewayConfig, readGatewayConfig } from "./config.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { CertificateError, readCertificate } from "./server/certificate.ts";
import { start } from "./start.ts";

const usage = `Usage: npm run gateway -- [--config FILE] [--profile development|production] [--check]

  --config FILE   the configuration (default: config/gateway.yaml)
  --profile NAME  overrides the file's profile
  --check         checks the configuration, starts nothing
`;

/** A configuration or a command line that cannot be used; 1 is for everything else that goes wrong. */
const exitUnusable = 2;

const options = readArguments();
if (options.help) {
  process.stdout.write(usage);
} else {
  const config = readUsableConfig(options);
  if (options.check) {
    process.stdout.write(
      `${options.config} is in order: ${config.profile} profile, port ${config.port}, ops port ${config.ops.port}, ` +
        `${config.upstreams.length} validator(s), ${config.keys.length} key(s)\n`,
    );
  } else {
    await run(config);
  }
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: "string", default: "config/gateway.yaml" },
        profile: { type: "string" },
        check: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(exitUnusable);
  }
}

function readUsableConfig({ config: file, profile }: { config: string; profile?: string }): GatewayConfig {
  try {
    const config = readGatewayConfig({ file, env: process.env, profile });
    readMethodTable(config.methodsFile);
    if (config.tls !== undefined) readCertificate(config.tls);
    return config;
  } catch (error) {
    const problems =
      error instanceof ConfigError
        ? error.problems
        : error instanceof CertificateError
          ? [`tls: ${error.message}`]
          : undefined;
    if (problems === undefined) throw error;
    process.stderr.write(`The gateway's configuration cannot be used:\n  ${problems.join("\n  ")}\n`);
    process.exit(exitUnusable);
  }
}

async function run(config: GatewayConfig): Promise<void> {
  const logger = createLogger({ name: "gateway", ...config.log });
  const stopSignal = new Promise<string>((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  try {
    const starting = start(config, { logger });
    const gateway = await Promise.race([starting, stopSignal]);
    if (typeof gateway === "string") process.exit(0);
    logger.info(
      { ...gateway.address, profile: config.profile, validators: config.upstreams.length },
      "gateway is up",
    );
    logger.info({ signal: await stopSignal }, "stopping");
    await gateway.stop();
    logger.info("stopped");
  } catch (error) {
    logger.fatal({ err: error }, error instanceof Error ? error.message : "the gateway could not start");
    process.exitCode = 1;
  }
}
