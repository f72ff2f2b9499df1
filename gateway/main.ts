import { runService } from "../lib/service/run-service.ts";
import { readGatewayConfig } from "./config.ts";
import { readMethodTable } from "./methods/method-table.ts";
import { CertificateError, readCertificate } from "./server/certificate.ts";
import { start } from "./start.ts";
import { createGatewayWorkers } from "./workers/gateway-workers.ts";

await runService({
  name: "gateway",
  invocation: "npm run gateway --",
  summary: "The gateway: JSON-RPC for clients with an API key, in front of the validators.",
  configFile: "config/gateway.yaml",
  readConfig(from) {
    const config = readGatewayConfig(from);
    readMethodTable(config.methodsFile);
    if (config.tls !== undefined) readCertificate(config.tls);
    return config;
  },
  problemsOf: (error) => (error instanceof CertificateError ? [`tls: ${error.message}`] : undefined),
  describe: ({ port, ops, upstreams, keys }) =>
    `port ${port}, ops port ${ops.port}, ${upstreams.length} validator(s), ${keys.length} key(s)`,
  opsPort: 9540,
  start: (config, { logger, readAgain }) => start(config, { logger, readAgain }),
  workers: createGatewayWorkers(),
  upFields: ({ upstreams }) => ({ validators: upstreams.length }),
});
