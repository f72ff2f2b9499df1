import { runService } from "../lib/service/run-service.ts";
import { readContracts } from "./chain/read-contracts.ts";
import { readApiConfig } from "./config.ts";
import { start } from "./start.ts";
import { createApiWorkers } from "./workers/api-workers.ts";

await runService({
  name: "api",
  invocation: "npm run api:serve --",
  summary: "The public API: REST v1, GraphQL and live events over the chain and its index in PostgreSQL.",
  configFile: "config/api.yaml",
  options: {
    "adopt-chain": { text: "empties an index that belongs to another chain, and begins anew" },
  },
  readConfig(from) {
    const config = readApiConfig(from);
    readContracts(config.contractsFolder);
    return config;
  },
  describe: ({ port, ops, contractsFolder }) =>
    `port ${port}, ops port ${ops.port}, ${readContracts(contractsFolder).length} contract(s)`,
  opsPort: 5000,
  start: (config, { logger, given, readAgain }) =>
    start(config, { logger, readAgain, adoptChain: given.has("adopt-chain") }),
  workers: createApiWorkers(),
});
