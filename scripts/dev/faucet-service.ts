import { fileURLToPath } from "node:url";
import { type FaucetConfig, readFaucetConfig } from "../../faucet/config.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { reachableUrl } from "../processes/reachable-url.ts";
import { type ProcessDescription, processService } from "./process-service.ts";
import type { Service } from "./service.ts";

const endWithinMs = 10_000;

/**
 * The faucet. It calls the chain's node directly; where there are several, it calls the internal RPC. The gateway
 * passes claims on to its private listener.
 * @throws ConfigError where its file cannot be used, or names its own Redis or node.
 */
export function faucetService({
  configFile,
  env,
  walletPort,
  explorerUrl,
  isNewChain,
  nodeProgram,
}: {
  configFile: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The wallet proxy's port: the faucet's page adds that URL to wallets. */
  walletPort: number;
  /** Where its page shows transactions. */
  explorerUrl: string;
  /** A Redis that stays may still hold claims of an earlier chain. */
  isNewChain: boolean;
  nodeProgram: string;
}): Service {
  const config = readUsableConfig({ configFile, env });
  const inside = config.private;
  const description: ProcessDescription = {
    name: "faucet",
    main: fileURLToPath(new URL("../../faucet/main.ts", import.meta.url)),
    configFile,
    host: config.host,
    port: config.port,
    isTls: false,
    ops: config.ops,
    args: isNewChain ? ["--adopt-chain"] : [],
    env: ({ chain, chainNode, internalRpc, faucetRedis }) => ({
      REDIS_URL: faucetRedis,
      // Of several nodes, one that answers: with a fixed node, claims would wait while it is down.
      FAUCET_UPSTREAM: chainNode === undefined ? chain : (internalRpc ?? chain),
      FAUCET_EXPLORER: explorerUrl,
      FAUCET_WALLET_RPC: `${reachableUrl({ host: "127.0.0.1", port: walletPort })}/`,
    }),
    endWithinMs,
  };
  const service = processService({ description, nodeProgram });
  const owner = "the faucet's private listener";
  return {
    name: "faucet",
    ports: [...service.ports, { ...inside, owner, changeWith: `\`private.port\` in ${configFile}` }],
    start(context) {
      context.addresses.faucet = reachableUrl(inside);
      context.addresses.faucetPage = reachableUrl(config);
      return service.start(context);
    },
  };
}

/** Reads the file as the faucet does, so that the printed table is right. */
function readUsableConfig({
  configFile,
  env,
}: {
  configFile: string;
  env: Readonly<Record<string, string | undefined>>;
}): FaucetConfig {
  // The addresses of Redis and the chain are known when they run; placeholders stand in until then.
  const standIns = { REDIS_URL: "redis://set-by-npm-start", FAUCET_UPSTREAM: "http://set-by-npm-start" };
  const config = readFaucetConfig({ file: configFile, env: { ...env, ...standIns } });
  if (config.redis !== standIns.REDIS_URL || config.upstream !== standIns.FAUCET_UPSTREAM) {
    throw new ConfigError([
      `${configFile}: redis: \${REDIS_URL} and upstream: \${FAUCET_UPSTREAM} were expected, where npm start puts its own`,
    ]);
  }
  if ([config.port, config.private.port, config.ops.port].includes(0)) {
    throw new ConfigError([`${configFile}: port, private.port and ops.port cannot be 0 for npm start`]);
  }
  return config;
}
