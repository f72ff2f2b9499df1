import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import { ConfigError } from "../../lib/read-config.ts";
import { chainService } from "./chain-service.ts";
import { type DevOptions, readOptions } from "./options.ts";
import { createOutput } from "./output.ts";
import { processService } from "./process-service.ts";
import { redisService } from "./redis-service.ts";
import { runDev } from "./run-dev.ts";
import { createTable } from "./table.ts";

/** A configuration or a command line that cannot be used; 1 is for everything else that goes wrong. */
const exitUnusable = 2;
const exitForced = 130;

/**
 * A terminal's Ctrl-C comes to us twice: from the terminal, and passed on by npm. A second one is a wish of its own
 * only after this time.
 */
const sameSignalWithinMs = 500;

const read = readOptions(process.argv.slice(2));
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") refuse(read.text);
else await start(read.options);

async function start({ reset, configFile, chainPort }: DevOptions): Promise<void> {
  const config = readUsableConfig(configFile);
  const coloured = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "";
  const output = createOutput({ stream: process.stdout, coloured });
  // The children write to pipes, and cannot see that these end at a terminal.
  const env = coloured ? { FORCE_COLOR: "1", ...process.env } : process.env;
  const givenUrl = process.env["REDIS_URL"] === "" ? undefined : process.env["REDIS_URL"];
  if ((process.env["UPSTREAMS"] ?? "") !== "") {
    output.say("UPSTREAMS is not used: the gateway of npm start asks the dev chain that is started with it.");
  }
  if (reset && givenUrl !== undefined) output.say("--reset leaves the Redis of REDIS_URL as it is.");

  const run = runDev({
    services: [
      redisService({ givenUrl }),
      chainService({ port: chainPort }),
      processService({
        description: {
          name: "gateway",
          main: fileURLToPath(new URL("../../gateway/main.ts", import.meta.url)),
          configFile,
          ...{ host: config.host, port: config.port, ops: config.ops },
          endWithinMs: config.stopTimeoutMs + 1000,
        },
        nodeProgram: process.execPath,
      }),
    ],
    ...{ env, pid: process.pid, cwd: process.cwd(), reset, output },
    table: (rows) =>
      createTable({
        ...{ rows, keys: config.keys, configFile, cwd: process.cwd() },
        gatewayUrl: rows.find(({ name }) => name === "gateway")?.address ?? "",
        tookMs: process.uptime() * 1000,
      }),
  });

  let firstSignalAt: number | undefined;
  const onSignal = () => {
    if (firstSignalAt === undefined) {
      firstSignalAt = performance.now();
      run.stop();
    } else if (performance.now() - firstSignalAt > sameSignalWithinMs) {
      run.kill();
      process.exit(exitForced);
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  // What still holds the event loop after everything has stopped is not worth waiting for.
  process.exit(await run.exitCode);
}

/** The gateway's own reading of its file, so that what is printed is what it will do. */
function readUsableConfig(file: string): GatewayConfig {
  // Each start finds a free port for Redis, so its address is not known before it runs: these stand for the real ones.
  const standIns = { REDIS_URL: "redis://set-by-npm-start", UPSTREAMS: "http://set-by-npm-start" };
  try {
    const config = readGatewayConfig({ file, env: { ...process.env, ...standIns } });
    if (config.redis !== standIns.REDIS_URL || config.upstreams.join() !== standIns.UPSTREAMS) {
      refuse(
        `${resolve(file)} names a Redis or validators of its own. npm start puts its own in their place and needs\n` +
          `  redis: \${REDIS_URL}\n  upstreams: \${UPSTREAMS}\n` +
          "(each may have a default after :-). For a gateway alone: npm run gateway -- --config FILE\n",
      );
    }
    if (config.port === 0 || config.ops.port === 0)
      refuse(`${file}: port and ops.port cannot be 0 for npm start\n`);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuse(`The gateway's configuration cannot be used:\n  ${error.problems.join("\n  ")}\n`);
  }
}

function refuse(text: string): never {
  process.stderr.write(text);
  process.exit(exitUnusable);
}
