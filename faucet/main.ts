import { parseArgs } from "node:util";
import { ConfigError } from "../lib/config/read-config.ts";
import { createLogger } from "../lib/logger.ts";
import { type FaucetConfig, readFaucetConfig } from "./config.ts";
import { start } from "./start.ts";

const usage = `Usage: npm run faucet:serve -- [--config FILE] [--profile development|production] [--adopt-chain] [--check]

  --config FILE   the configuration (default: config/faucet.yaml)
  --profile NAME  overrides the file's profile
  --adopt-chain   takes the chain or the wallet as it is, where Redis belongs to another one: ends the open claims
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
      `${options.config} is in order: ${config.profile} profile, port ${config.port}, private port ` +
        `${config.private.port}, ops port ${config.ops.port}\n`,
    );
  } else {
    await run(config, { adopt: options["adopt-chain"] });
  }
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: "string", default: "config/faucet.yaml" },
        profile: { type: "string" },
        "adopt-chain": { type: "boolean", default: false },
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

function readUsableConfig({ config: file, profile }: { config: string; profile?: string }): FaucetConfig {
  try {
    return readFaucetConfig({ file, env: process.env, profile });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`The faucet's configuration cannot be used:\n  ${error.problems.join("\n  ")}\n`);
    process.exit(exitUnusable);
  }
}

async function run(config: FaucetConfig, { adopt }: { adopt: boolean }): Promise<void> {
  const logger = createLogger({ name: "faucet", ...config.log });
  const stopSignal = new Promise<string>((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  try {
    const starting = start(config, { logger, adopt });
    const faucet = await Promise.race([starting, stopSignal]);
    if (typeof faucet === "string") process.exit(0);
    logger.info({ ...faucet.address, profile: config.profile }, "faucet is up");
    logger.info({ signal: await stopSignal }, "stopping");
    await faucet.stop();
    logger.info("stopped");
  } catch (error) {
    logger.fatal({ err: error }, error instanceof Error ? error.message : "the faucet could not start");
    process.exitCode = 1;
  }
}
