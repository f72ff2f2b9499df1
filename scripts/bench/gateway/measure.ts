import { cpuSeconds, peakMemoryBytes, resetPeakMemory } from "./process-usage.ts";
import type { Rig } from "./rig.ts";
import { runLoads } from "./run-wrk.ts";
import { type Samples, sampleAnswers } from "./sample-answers.ts";
import type { RunningContestant } from "./start-contestant.ts";
import type { Workload } from "./workloads.ts";

/** One measurement of one contestant with one workload. */
export type Measurement = {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** By the CPU time of the proxy's processes, without and with its Redis. */
  requestsPerCpuSecond: number;
  requestsPerCpuSecondWithRedis: number;
  /** How much of its core the proxy used, from 0 to 1. */
  cpuShare: number;
  /** Mean number of calls in a request to a validator; 0 where there was none. */
  arrayLength: number;
  /** The share of the answered calls that reached a validator. */
  reachedShare: number;
  /** In the load: statuses other than 200, broken connections, timeouts. In the samples: wrong answers. */
  errors: number;
  wrong: Pick<Samples, "wrong" | "firstProblem">;
  /** The peak memory of the proxy's processes. */
  peakMemoryBytes: number;
};

/** Of the load. */
export const connections = 64;

export async function measure({
  rig,
  running: { contestant, url, pids },
  work,
  seconds,
  run,
  loads = 1,
  connections: open = connections,
}: {
  rig: Rig;
  running: RunningContestant;
  work: Workload;
  seconds: number;
  /** This number is this measurement's alone, and so are the next ones, one for each of `loads`. */
  run: number;
  /** Processes that send. */
  loads?: number;
  connections?: number;
}): Promise<Measurement> {
  const { chain, counts } = rig.validators;
  const proxy = pids();
  const redis = contestant.usesRedis ? [rig.redis.pid] : [];
  resetPeakMemory(proxy);
  const before = { proxy: cpuSeconds(proxy), redis: cpuSeconds(redis), ...(await counts()) };
  const sampling = sampleAnswers({ url, work, chain, run: run + loads });
  const load = await runLoads(rig, { work, url, connections: open, seconds, run }, loads);
  const { answered, wrong, firstProblem } = await sampling.stop();
  const after = { proxy: cpuSeconds(proxy), redis: cpuSeconds(redis), ...(await counts()) };

  const requests = load.requests + answered;
  const proxySeconds = after.proxy - before.proxy;
  const upstreamCalls = after.calls - before.calls;
  const upstreamRequests = after.requests - before.requests;
  return {
    requestsPerSecond: load.requests / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    requestsPerCpuSecond: requests / proxySeconds,
    requestsPerCpuSecondWithRedis: requests / (proxySeconds + after.redis - before.redis),
    cpuShare: proxySeconds / load.seconds,
    arrayLength: upstreamRequests === 0 ? 0 : upstreamCalls / upstreamRequests,
    reachedShare: upstreamCalls / (requests * work.callsPerRequest),
    errors: load.errors,
    wrong: { wrong, firstProblem },
    peakMemoryBytes: peakMemoryBytes(proxy),
  };
}
