import { runService } from "../lib/service/run-service.ts";
import { readFaucetConfig } from "./config.ts";
import { start } from "./start.ts";

await runService({
  name: "faucet",
  invocation: "npm run faucet:serve --",
  summary: "The faucet: gives test tokens to the addresses of its allowlist.",
  configFile: "config/faucet.yaml",
  options: {
    "adopt-chain": {
      text: "takes the chain or the wallet as it is, where Redis belongs to another one: ends the open claims",
    },
  },
  readConfig: readFaucetConfig,
  describe: (config) =>
    `port ${config.port}, private port ${config.private.port}, ops port ${config.ops.port}`,
  opsPort: 5001,
  start: (config, { logger, given, readAgain }) =>
    start(config, { logger, readAgain, adopt: given.has("adopt-chain") }),
});
