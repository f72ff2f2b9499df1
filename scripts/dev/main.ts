import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import { startInternalRpc } from "../../gateway/wallet-proxy/start-internal-rpc.ts";
import { startWalletProxy } from "../../gateway/wallet-proxy/start-wallet-proxy.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { reachableUrl } from "../processes/reachable-url.ts";
import { apiService } from "./api-service.ts";
import { chainService } from "./chain-service.ts";
import { contractsService } from "./contracts-service.ts";
import { faucetService } from "./faucet-service.ts";
import { type DevOptions, readOptions } from "./options.ts";
import { createOutput } from "./output.ts";
import { postgresService } from "./postgres-service.ts";
import { processService } from "./process-service.ts";
import { proxyService } from "./proxy-service.ts";
import { redisServices } from "./redis-service.ts";
import { runDev } from "./run-dev.ts";
import type { Service } from "./service.ts";
import { createTable } from "./table.ts";

/** The configuration or the command line cannot be used. Any other failure is 1. */
const exitUnusable = 2;
const exitForced = 130;

/**
 * A terminal's Ctrl-C arrives twice: from the terminal, and passed on by npm. Only after this time does another one
 * count as a second Ctrl-C.
 */
const sameSignalWithinMs = 500;

const read = readOptions(process.argv.slice(2));
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") refuse(read.text);
else await start(read.options);

async function start(options: DevOptions): Promise<void> {
  const { besu, reset, configFile, chainPort, walletPort } = options;
  const config = readUsableConfig(configFile);
  const chain = besu
    ? await usableBesu({ file: options.networkFile, chainId: config.chainId })
    : chainService();
  const api = usableApi({ options, config });
  const faucet = usableFaucet({ options, explorerUrl: api.explorerUrl });
  const coloured = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "";
  const output = createOutput({ stream: process.stdout, coloured });
  // The children write to pipes and cannot see that a terminal is behind them.
  const env = coloured ? { FORCE_COLOR: "1", ...process.env } : process.env;
  const [givenRedis, givenPostgres] = [given("REDIS_URL"), given("POSTGRES_URL")];
  if ((process.env["UPSTREAMS"] ?? "") !== "") {
    output.say("UPSTREAMS is not used: the gateway of npm start asks the chain that is started with it.");
  }
  if (reset && givenRedis !== undefined) output.say("--reset leaves the Redis of REDIS_URL as it is.");
  if (reset && givenPostgres !== undefined) {
    output.say("--reset leaves the database of POSTGRES_URL as it is.");
  }

  const run = runDev({
    services: [
      ...redisServices({ givenUrl: givenRedis }),
      postgresService({ givenUrl: givenPostgres }),
      chain,
      contractsService({ fees: api.fees, chainId: config.chainId, minesAtOnce: !besu }),
      ...internalRpcOf({ config, port: chainPort, besu }),
      faucet,
      processService({
        description: {
          name: "gateway",
          main: fileURLToPath(new URL("../../gateway/main.ts", import.meta.url)),
          configFile,
          host: config.host,
          port: config.port,
          ops: config.ops,
          isTls: config.tls !== undefined,
          env: () => ({ EXPLORER_URL: api.explorerUrl }),
          endWithinMs: config.drainDelayMs + config.stopTimeoutMs + 1000,
        },
        nodeProgram: process.execPath,
      }),
      ...walletProxyOf({ config, port: walletPort }),
      api,
    ],
    env,
    pid: process.pid,
    cwd: process.cwd(),
    chain: besu ? "besu" : "anvil",
    reset,
    output,
    table: (rows) =>
      createTable({
        rows,
        keys: config.keys,
        configFile,
        cwd: process.cwd(),
        certFile: config.tls?.certFile,
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
  // Whatever still holds the event loop after everything has stopped need not be waited for.
  process.exit(await run.exitCode);
}

/** An empty variable counts as unset. */
function given(name: string): string | undefined {
  return process.env[name] === "" ? undefined : process.env[name];
}

/** The code that writes and checks a network is a third of what this process loads, so only --besu loads it. */
async function usableBesu(options: { file: string; chainId: number }): Promise<Service> {
  const { besuChain } = await import("./besu-chain.ts");
  const chain = await besuChain(options);
  return "refused" in chain ? refuse(chain.refused) : chain;
}

function usableFaucet({
  options: { faucetFile, walletPort, reset },
  explorerUrl,
}: {
  options: DevOptions;
  explorerUrl: string;
}): Service {
  try {
    return faucetService({
      configFile: faucetFile,
      env: process.env,
      walletPort,
      explorerUrl,
      isNewChain: reset,
      nodeProgram: process.execPath,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuse(`The faucet's configuration cannot be used:\n  ${error.problems.join("\n  ")}\n`);
  }
}

function usableApi({
  options,
  config,
}: {
  options: DevOptions;
  config: GatewayConfig;
}): ReturnType<typeof apiService> {
  try {
    return apiService({
      configFile: options.apiFile,
      env: process.env,
      gatewayUrl: reachableUrl({ ...config, isTls: config.tls !== undefined }),
      certFile: config.tls?.certFile,
      profile: config.profile,
      walletPort: options.walletPort,
      isNewChain: options.reset,
      nodeProgram: process.execPath,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuse(`The API's configuration cannot be used:\n  ${error.problems.join("\n  ")}\n`);
  }
}

/**
 * Never in production, since its callers may do anything to the chain. With --besu it runs even there, on a free port,
 * for the faucet alone: the faucet takes one address, and with one validator's address its claims would wait while that
 * validator is down. This opens nothing new, since each validator answers every caller on loopback.
 */
function internalRpcOf({
  config,
  port,
  besu,
}: {
  config: GatewayConfig;
  port: number;
  besu: boolean;
}): Service[] {
  const isProduction = config.profile === "production";
  if (isProduction && !besu) return [];
  return [
    proxyService({
      ...(isProduction
        ? { name: "faucet's RPC", port: 0, note: "(the validator that answers)" }
        : { name: "internal RPC", port, portOption: "--chain-port", note: "(the chain, without a key)" }),
      logName: "rpc",
      async start({ addresses, logger }) {
        const { chain, chainWebSocket: nodeWebSocketUrl, chainNode: node } = addresses;
        if (chain === undefined) throw new Error("there is no dev chain");
        const rpc = await startInternalRpc(
          { port: isProduction ? 0 : port, nodeUrl: chain, nodeWebSocketUrl, node },
          { logger },
        );
        addresses.internalRpc = rpc.url;
        return rpc;
      },
    }),
  ];
}

/** Needs a key to add. It takes the key with the highest limit, since a wallet and a dapp make many calls. */
function walletProxyOf({ config, port }: { config: GatewayConfig; port: number }): Service[] {
  const [key] = config.keys
    .filter(({ permissions }) => permissions.includes("rpc"))
    .toSorted((one, other) => (other.limitPerMinute ?? 0) - (one.limitPerMinute ?? 0));
  if (key === undefined) return [];
  const gatewayUrl = reachableUrl({ ...config, isTls: config.tls !== undefined });
  return [
    proxyService({
      name: "wallet proxy",
      logName: "wallet",
      port,
      portOption: "--wallet-port",
      note: "(open it in a browser)",
      start({ addresses: { faucetPage: faucetUrl }, logger }) {
        const ca = config.tls && readFileSync(config.tls.certFile, "utf8");
        return startWalletProxy({ port, gatewayUrl, ca, faucetUrl }, { apiKey: () => key.value, logger });
      },
    }),
  ];
}

/** Reads the file as the gateway does, so that the printed table is right. */
function readUsableConfig(file: string): GatewayConfig {
  // Redis gets a free port at each start, so its address is known when it runs; placeholders stand in until then.
  const standIns = { REDIS_URL: "redis://set-by-npm-start", UPSTREAMS: "http://set-by-npm-start" };
  try {
    const config = readGatewayConfig({ file, env: { ...process.env, ...standIns } });
    if (
      config.redis !== standIns.REDIS_URL ||
      config.upstreams.map(({ url }) => url).join() !== standIns.UPSTREAMS
    ) {
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
