import { runService } from "../lib/service/run-service.ts";
import { readApiConfig } from "./config.ts";
import { start } from "./start.ts";

await runService({
  name: "api",
  invocation: "npm run api:serve --",
  summary: "The public API: REST v1, GraphQL and live events over the chain and its index in PostgreSQL.",
  configFile: "config/api.yaml",
  options: {
    "adopt-chain": { text: "empties an index that belongs to another chain, and begins anew" },
  },
  readConfig: readApiConfig,
  describe: (config) => `port ${config.port}, ops port ${config.ops.port}`,
  start: (config, { logger, given }) => start(config, { logger, adoptChain: given.has("adopt-chain") }),
});
