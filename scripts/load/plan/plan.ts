import { planMs, type Stage } from "../drive/arrivals.ts";

/** A part of a run in which the number of clients goes evenly from one value to another (or stays). */
export type ClientStage = { fromClients: number; toClients: number; durationMs: number };

/**
 * What a run does over time. `rate` is the open loop: scripts begin in time, whatever is answered. `clients` is the closed
 * one: each client begins its next script when the last has ended and it has thought.
 */
export type Plan =
  | { kind: "rate"; stages: readonly Stage[] }
  | { kind: "clients"; stages: readonly ClientStage[]; thinkMs: number; maxPerSecond: number };

/** Which share of a plan this process runs: part `index` of `of`. */
export type Part = { index: number; of: number };
export const wholePlan: Part = { index: 0, of: 1 };

export const clientsMax = 10_000;
export const ratePerSecondMax = 100_000;
/** The most that all clients together begin in a second, unless the load file says otherwise. */
export const clientsPerSecondDefault = 10_000;

export function lengthOf({ stages }: Plan): number {
  return planMs(stages);
}

/** How many clients a plan wants at a time from its start; 0 once it has ended. */
export function clientsAt(stages: readonly ClientStage[], atMs: number): number {
  let beganMs = 0;
  for (const { fromClients, toClients, durationMs } of stages) {
    if (atMs < beganMs + durationMs) {
      return Math.round(fromClients + ((toClients - fromClients) * (atMs - beganMs)) / durationMs);
    }
    beganMs += durationMs;
  }
  return 0;
}

/** How many of so many clients belong to a part: client k is of part k mod `of`. */
export function shareOf(clients: number, { index, of }: Part): number {
  return Math.max(0, Math.ceil((clients - index) / of));
}

export function mostClients(stages: readonly ClientStage[]): number {
  return Math.max(...stages.flatMap(({ fromClients, toClients }) => [fromClients, toClients]));
}

/**
 * The plan's first rate, or number of clients, for a while before it. In its first second a process compiles itself and
 * opens its connections: at 12 000 requests a second that alone made the p99 of ten seconds 130 ms instead of 10.
 */
export function warmupOf(plan: Plan, durationMs: number): Plan {
  const isNone = durationMs === 0;
  if (plan.kind === "rate") {
    const [first] = plan.stages;
    if (isNone || first === undefined) return { ...plan, stages: [] };
    return { ...plan, stages: [{ ...first, toPerSecond: first.fromPerSecond, durationMs }] };
  }
  const [first] = plan.stages;
  if (isNone || first === undefined) return { ...plan, stages: [] };
  const clients = Math.max(1, first.fromClients);
  return { ...plan, stages: [{ fromClients: clients, toClients: clients, durationMs }] };
}
