import type { ApiConfig } from "../config.ts";

/**
 * The configuration of one of several workers: what bounds a process's memory, connections and streams is divided among them,
 * so that all together hold what the file says. What is counted in Redis or PostgreSQL is exact over all of them as it is, and
 * what is said of one address or wallet counts in each worker.
 */
export function shareOf(config: ApiConfig, { workers }: { workers: number }): ApiConfig {
  const share = (whole: number) => Math.max(1, Math.floor(whole / workers));
  const { postgres, live, checkout, svcDev, payerRpc } = config;
  return {
    ...config,
    postgres: { ...postgres, connectionsMax: share(postgres.connectionsMax) },
    cacheBytesMax: share(config.cacheBytesMax),
    live: { ...live, clientsMax: share(live.clientsMax) },
    checkout: { ...checkout, clientsMax: share(checkout.clientsMax) },
    svcDev: { ...svcDev, events: { ...svcDev.events, clientsMax: share(svcDev.events.clientsMax) } },
    payerRpc: { ...payerRpc, inFlightMax: share(payerRpc.inFlightMax) },
  };
}
