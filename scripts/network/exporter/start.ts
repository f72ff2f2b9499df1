import type { NetworkConfig } from "../../../genesis/config.ts";
import type { Manifest } from "../../../genesis/manifest.ts";
import { type OpsServer, startOpsServer } from "../../../lib/ops-server.ts";
import { networkStatus, stallLimitSeconds } from "../chain/network-status.ts";
import { observe } from "../chain/observe.ts";
import { createNetworkMetrics } from "./network-metrics.ts";

/** Starts the ops server that tells Prometheus how the network's validators are. It only asks, and holds nothing. */
export function start(
  {
    manifest,
    status,
    host,
    port,
    hosts,
  }: {
    manifest: Manifest;
    status: NetworkConfig["status"];
    host: string;
    port: number;
    hosts: readonly string[];
  },
  { now }: { now: () => number },
): Promise<OpsServer> {
  const list = manifest.validators.map(({ name, address, host, httpPort }) => ({
    name,
    address,
    rpcUrl: `http://${host}:${httpPort}`,
  }));
  const { windowBlocks } = status;
  const stalledAfterSeconds = stallLimitSeconds({ ...manifest, ...status });
  async function look() {
    // From here a stopped node and a silent one look the same.
    const nodes = { list, isRunning: async () => true };
    // Heads are told at once, and it may take seconds until a silent node is given up.
    const nowMs = now();
    const views = await observe({ nodes, genesisHash: manifest.genesisHash, windowBlocks });
    return networkStatus({ views, nowMs, stalledAfterSeconds });
  }
  return startOpsServer({
    host,
    port,
    hosts,
    registry: createNetworkMetrics({ look, stalledAfterSeconds, now }),
    readiness: () => ({ ready: true, reasons: [] }),
    status: () => ({ process: "network-exporter", validators: list }),
  });
}
