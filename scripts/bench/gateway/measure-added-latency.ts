import type { Rig } from "./rig.ts";
import { type LoadResult, runWrk } from "./run-wrk.ts";
import type { RunningContestant } from "./start-contestant.ts";
import type { Workload } from "./workloads.ts";

/** One measurement of the latency that a proxy adds at half of its full rate. */
export type AddedLatency = {
  /** How many requests went through the proxy; as many went to the validator directly. */
  requestsPerSecond: number;
  direct: { p50Ms: number; p99Ms: number };
  through: { p50Ms: number; p99Ms: number };
  addedP50Ms: number;
  addedP99Ms: number;
  errors: number;
};

/**
 * Enough that pauses are much longer than answers: arrivals then hardly depend on the answers, as with clients who know
 * nothing of each other. An open loop proper would need a load tool in JavaScript, which at these rates takes the core
 * from the validators and measures itself.
 */
const connections = 256;

/**
 * The same rate first to a validator, then through the proxy, so that what the machine and the load tool add stands on both
 * sides. `fullRate` is what the contestant carried of this workload with nothing held back.
 */
export async function measureAddedLatency({
  rig,
  running,
  work,
  seconds,
  run,
  fullRate,
}: {
  rig: Rig;
  running: RunningContestant;
  work: Workload;
  seconds: number;
  /** This number and the next one are this measurement's alone. */
  run: number;
  fullRate: number;
}): Promise<AddedLatency> {
  const thinkMs = (connections / (fullRate / 2)) * 1000;
  const load = (url: string, own: number): Promise<LoadResult> =>
    runWrk(rig, { work, url, connections, seconds, run: own, thinkMs });
  const direct = await load(`http://127.0.0.1:${rig.validators.ports[0]}/`, run);
  const through = await load(running.url, run + 1);
  return {
    requestsPerSecond: through.requests / through.seconds,
    direct: { p50Ms: direct.p50Ms, p99Ms: direct.p99Ms },
    through: { p50Ms: through.p50Ms, p99Ms: through.p99Ms },
    addedP50Ms: through.p50Ms - direct.p50Ms,
    addedP99Ms: through.p99Ms - direct.p99Ms,
    errors: direct.errors + through.errors,
  };
}
