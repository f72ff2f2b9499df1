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
 * Enough connections that pauses are much longer than answers. Then arrivals hardly depend on answers, as with
 * independent clients. A true open loop would need a load tool in JavaScript, which at these rates takes the
 * validators' core and measures itself.
 */
const connections = 256;

/**
 * Sends the same rate first to a validator, then through the proxy, so that machine and load tool add as much to both.
 * `fullRate` is the contestant's full rate for this workload.
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
