import type { Measured } from "./measured.ts";

/** What is not measured here, and is set to be reckoned with. */
export const assumed = {
  /** Of a processor, over time: the rest is for bursts, the collector and the loss of a neighbour. */
  busyShare: 0.6,
  coresPerMachine: 8,
  /** Of the calls of a head, those that no gateway process has in memory. */
  toNodesShare: 0.1,
  /** Light calls that one Besu answers a second beside its blocks. `npm run load` measures one. */
  nodeCalls: 2000,
  blockSeconds: 2,
  /** How uneven keys are: the n-th busiest makes 1/n^skew of the busiest one's calls. */
  skew: 1,
} as const;

/** Calls a second of a process, spread over all keys of a network by how busy they are, the busiest first. */
export function rates({ calls, keys, skew }: { calls: number; keys: number; skew: number }): Float64Array {
  const shares = Float64Array.from({ length: keys }, (_, index) => (index + 1) ** -skew);
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => (calls * share) / sum);
}

/**
 * Scripts a second that leases cost Redis. A lease covers what a process needs for a moment, so a busy key costs a process so
 * many scripts however many calls there are, and a slow key one for each call.
 */
export function leaseScripts({
  calls,
  keys,
  processes,
  scriptsOfBusyKey,
  processesOfKey = processes,
  skew = assumed.skew,
}: {
  calls: number;
  keys: number;
  processes: number;
  /** Of one process. */
  scriptsOfBusyKey: number;
  /** On how many of the processes a key's calls come in: a balancer can keep a key on few. */
  processesOfKey?: number;
  skew?: number;
}): number {
  const spread = Math.min(processes, processesOfKey);
  let scripts = 0;
  for (const rate of rates({ calls, keys, skew }))
    scripts += spread * Math.min(rate / spread, scriptsOfBusyKey);
  return scripts;
}

export type Plan = {
  calls: number;
  keys: number;
  gatewayProcesses: number;
  machines: number;
  leaseScripts: number;
  leaseScriptsSticky: number;
  redisCores: number;
  redisCoresSticky: number;
  redisBytes: number;
  nodeCalls: number;
  nodes: number;
};

/** What it takes to serve so many calls a second of so many keys. Whole processes, machines, cores and nodes. */
export function plan(measured: Measured, { calls, keys }: { calls: number; keys: number }): Plan {
  const { busyShare, coresPerMachine, toNodesShare, nodeCalls } = assumed;
  const gatewayProcesses = Math.ceil(calls / (measured.gateway.mixedCalls * busyShare));
  const shared = { calls, keys, processes: gatewayProcesses, scriptsOfBusyKey: measured.leaseScripts.one };
  const everywhere = leaseScripts(shared);
  const sticky = leaseScripts({ ...shared, processesOfKey: 2 });
  const coresFor = (scripts: number) => Math.max(1, Math.ceil(scripts / (measured.redis.leases * busyShare)));
  return {
    calls,
    keys,
    gatewayProcesses,
    machines: Math.ceil(gatewayProcesses / coresPerMachine),
    leaseScripts: everywhere,
    leaseScriptsSticky: sticky,
    redisCores: coresFor(everywhere),
    redisCoresSticky: coresFor(sticky),
    redisBytes: keys * measured.redis.bytesPerKey,
    nodeCalls: calls * toNodesShare,
    nodes: Math.ceil((calls * toNodesShare) / (nodeCalls * busyShare)),
  };
}

/** How many are told of each block by one process that does nothing else with so much of its core. */
export function subscribersOf(measured: Measured, share: number): number {
  return Math.floor((assumed.blockSeconds * share * 1e6) / measured.webSocket.notificationMicros);
}
