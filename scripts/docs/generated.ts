import type { Registry } from "prom-client";
import { createBurnMetrics } from "../../api/burns/metrics.ts";
import { createFollowerMetrics } from "../../api/follower/metrics.ts";
import { createLedgerMetrics } from "../../api/merchant/ledger/metrics.ts";
import { createPayerRpcMetrics } from "../../api/merchant/payer-rpc/metrics.ts";
import { createWebhookMetrics } from "../../api/merchant/webhooks/metrics.ts";
import { createApiMetrics, registerStateMetrics } from "../../api/metrics.ts";
import { reloadTable as apiReload } from "../../api/reload-table.ts";
import { createFaucetMetrics } from "../../faucet/metrics.ts";
import { reloadTable as faucetReload } from "../../faucet/reload-table.ts";
import { registerAnswerMetrics } from "../../gateway/answer-budget/answer-metrics.ts";
import { registerKeyMetrics } from "../../gateway/auth/key-metrics.ts";
import { registerCacheMetrics } from "../../gateway/cache/cache-metrics.ts";
import { registerExplorerMetrics } from "../../gateway/explorer/explorer-metrics.ts";
import { registerLimiterMetrics } from "../../gateway/limits/limiter-metrics.ts";
import { createLimiterStats } from "../../gateway/limits/limiter-stats.ts";
import { createGatewayMetrics } from "../../gateway/metrics.ts";
import { reloadTable as gatewayReload } from "../../gateway/reload-table.ts";
import { registerIntakeMetrics } from "../../gateway/server/intake-metrics.ts";
import { registerTlsMetrics } from "../../gateway/server/tls-metrics.ts";
import { registerSocketMetrics } from "../../gateway/server/websocket/socket-metrics.ts";
import { registerTraceMetrics } from "../../gateway/traces/trace-metrics.ts";
import { registerHeadMetrics } from "../../gateway/upstream/head-metrics.ts";
import { registerPoolMetrics } from "../../gateway/upstream/pool/pool-metrics.ts";
import { errorTable } from "../../lib/errors.ts";
import { aclFile, faucetRedisUsers, sharedRedisUsers } from "../../lib/redis/redis-users.ts";
import { registerReloadMetrics } from "../../lib/reload/reload-metrics.ts";
import { registerWorkerMetrics } from "../../lib/workers/worker-metrics.ts";
import { readMeasured } from "../bench/scale/measured.ts";
import {
  assumedTable,
  breaksTable,
  measuredTable,
  planTable,
  simulationTable,
} from "../bench/scale/tables.ts";
import { checks } from "../real-besu/checks.ts";
import { endpointsTable } from "./api-endpoints.ts";
import { operationsTable } from "./api-operations.ts";
import { clientExample, clientsTable, webSocketClientsTable } from "./clients.ts";
import { helmValuesTable } from "./helm-values.ts";
import { markdownTable } from "./markdown-table.ts";
import { reloadTables } from "./reload-tables.ts";

/** The parts of documents that are made from code, by the name that stands in their markers. */
export const generated: Readonly<Record<string, () => string>> = {
  errors: errorsTable,
  "gateway-metrics": gatewayMetricsTable,
  "faucet-metrics": () => metricsTable(faucetRegistry()),
  "api-metrics": () => metricsTable(apiRegistry()),
  "api-endpoints": endpointsTable,
  "api-operations": operationsTable,
  "gateway-reload": () => reloadTables(gatewayReload),
  "api-reload": () => reloadTables(apiReload),
  "faucet-reload": () => reloadTables(faucetReload),
  "real-besu-checks": realBesuChecks,
  "scale-measured": () => measuredTable(readMeasured()),
  "scale-assumed": assumedTable,
  "scale-plan": () => planTable(readMeasured()),
  "scale-breaks": () => breaksTable(readMeasured()),
  "scale-simulation": () => simulationTable(readMeasured()),
  "helm-values": helmValuesTable,
  clients: clientsTable,
  "web-socket-clients": webSocketClientsTable,
  "example-ethers": () => clientExample("ethers.ts"),
  "example-ethers-websocket": () => clientExample("ethers-websocket.ts"),
  "example-viem": () => clientExample("viem.ts"),
  "example-viem-websocket": () => clientExample("viem-websocket.ts"),
  "example-web3js": () => clientExample("web3.ts"),
  "example-web3js-websocket": () => clientExample("web3-websocket.ts"),
  "example-cast": () => clientExample("cast.sh"),
  "example-hardhat": () => clientExample("hardhat.ts"),
  "example-web3py": () => clientExample("web3py.py"),
};

/** Files that are made from code as a whole. */
export const wholeFiles: Readonly<Record<string, string>> = {
  "docker/redis/users/production.acl": aclFile(sharedRedisUsers("production")),
  "docker/redis/users/development.acl": aclFile(sharedRedisUsers("development")),
  "docker/redis/users/faucet.acl": aclFile(faucetRedisUsers),
};

/**
 * Replaces what stands between `<!-- generated: NAME -->` and `<!-- end -->` by what the code says now.
 * @throws Error for a name that nothing generates.
 */
export function regenerate(markdown: string): string {
  return markdown.replace(
    /(<!-- generated: ([a-z0-9-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, start, name, end) => {
      const make = generated[name];
      if (make === undefined) throw new Error(`nothing generates "${name}"`);
      return `${start}\n${make()}\n\n${end}`;
    },
  );
}

function realBesuChecks(): string {
  return markdownTable(
    ["What is looked at", "What a stand-in cannot prove of it"],
    checks.map(({ title, proves }) => [title, proves]),
  );
}

function errorsTable(): string {
  return markdownTable(
    ["HTTP status", "`code`", "JSON-RPC number", "Meaning"],
    Object.values(errorTable).map(({ status, code, rpcCode, meaning }) => [
      String(status),
      `\`${code}\``,
      String(rpcCode),
      meaning,
    ]),
  );
}

function gatewayMetricsTable(): string {
  return metricsTable(gatewayRegistry());
}

/** Every metric that a gateway registers, without a gateway: nothing asks these for their values. */
export function gatewayRegistry(): Registry {
  const { registry } = createGatewayMetrics();
  registerReloadMetrics({ registry, reloader: () => undefined });
  registerWorkerMetrics(registry, { slots: [], serving: () => 0 });
  const state = () => ({ answers: true, since: 0, reason: undefined });
  const limiter = { state, stats: createLimiterStats, keysWithLease: () => 0 };
  registerLimiterMetrics({ registry, limiter });
  const lookUps = { found: 0, unknown: 0, failed: 0, remembered: 0, bounded: 0, refused: 0 };
  registerKeyMetrics({ registry, keys: { loss: () => undefined, stats: () => lookUps } });
  registerIntakeMetrics({
    registry,
    slots: { count: () => 0, lost: () => new Map() },
    budget: { reading: () => 0, heldBytes: () => 0, dropped: () => new Map() },
  });
  registerTlsMetrics({ registry, certificate: () => undefined });
  const classStats = { hits: 0, misses: 0, joins: 0, entries: 0, bytes: 0 };
  registerCacheMetrics({ registry, cache: { stats: () => ({ head: classStats, forever: classStats }) } });
  registerHeadMetrics({
    registry,
    head: {
      announced: () => undefined,
      isStalled: () => false,
      headAgeMs: () => 0,
      epoch: () => ({ number: 1, genesisHash: undefined, startedAt: 0 }),
      status: () => [],
      differences: () => ({ outside: [], waiting: [] }),
    },
  });
  registerPoolMetrics({
    registry,
    validators: () => [],
    dispatcher: { lanes: [] },
    receiving: { heldBytes: () => 0, refused: () => 0 },
  });
  registerAnswerMetrics({
    registry,
    answerBudget: { heldBytes: () => 0, keysHolding: () => 0, refused: () => 0 },
    readers: { closed: () => 0 },
  });
  registerTraceMetrics({
    registry,
    deadly: { stats: () => ({ noted: 0, struck: 0, known: 0 }) },
    traces: { stats: () => ({ running: 0, waiting: 0 }) },
    healthyNodes: () => 0,
  });
  registerSocketMetrics({
    registry,
    sockets: { count: () => 0, ended: () => new Map() },
    subscriptions: { count: () => 0, logValues: () => 0, notificationsSent: () => 0 },
  });
  const openAnswers = { count: () => 0 };
  registerExplorerMetrics({ registry, explorer: { failures: new Map() }, openAnswers });
  return registry;
}

/** Every metric that a faucet registers, without a faucet. */
export function faucetRegistry(): Registry {
  const { registry } = createFaucetMetrics();
  registerReloadMetrics({ registry, reloader: () => undefined });
  return registry;
}

/** Every metric that an API registers, without an API. */
export function apiRegistry(): Registry {
  const { registry } = createApiMetrics();
  registerReloadMetrics({ registry, reloader: () => undefined });
  registerWorkerMetrics(registry, { slots: [], serving: () => 0 });
  const no = () => false;
  registerStateMetrics({
    registry,
    liveClients: () => 0,
    eventStreams: () => 0,
    paymentStreams: () => 0,
    cacheBytes: () => 0,
    isAway: { chain: no, redis: no, postgres: no },
  });
  createFollowerMetrics(registry);
  createLedgerMetrics(registry);
  createBurnMetrics(registry);
  createWebhookMetrics(registry, { underway: () => 0 });
  createPayerRpcMetrics(registry, { methods: new Set() });
  return registry;
}

/** Our own names; the ones of the Node.js process that prom-client adds are its to document. */
function metricsTable(registry: Registry): string {
  const ours = registry.getMetricsAsArray().filter(({ name }) => isOurs(name));
  return markdownTable(
    ["Name", "Kind", "Labels", "Meaning"],
    ours.map((metric) => [
      `\`${metric.name}\``,
      String(metric.type),
      "labelNames" in metric && Array.isArray(metric.labelNames)
        ? metric.labelNames.map((label) => `\`${label}\``).join(", ")
        : "",
      metric.help,
    ]),
  );
}

/** Whether a metric's name is one of ours. */
export function isOurs(name: string): boolean {
  return name.startsWith("tollgate_") || name.startsWith("api_");
}
