import type { DeadlyCalls } from "../traces/deadly-calls.ts";
import type { RunTraces } from "../traces/run-traces.ts";
import type { TraceNodes } from "../traces/trace-nodes.ts";
import type { HeadTracker } from "./head/head-tracker.ts";
import type { ValidatorPool } from "./validator-pool.ts";

type Parts = {
  head: HeadTracker;
  pool: ValidatorPool;
  traces: RunTraces;
  /** Undefined where validators run the traces. */
  traceNodes: TraceNodes | undefined;
  /** How many nodes traces can be sent to. */
  healthyNodes: () => number;
  deadly: Pick<DeadlyCalls, "stats">;
};

/** Why validators are not as they should be, in words for `/readyz`; empty where all is well. */
export function problemsOf({ head, pool, traceNodes, healthyNodes }: Parts): string[] {
  const noneCounts = head.whyNoneCounts();
  if (noneCounts !== undefined) return [`no validator counts: ${noneCounts}`];
  const differences = differencesIn(head.differences());
  const isSilent = !pool.isAnswering() || head.announced() === undefined || head.answering() === 0;
  if (isSilent) return ["no validator answers", ...differences];
  const isTraceless = traceNodes !== undefined && healthyNodes() === 0;
  return [
    ...(isTraceless ? ["no trace node answers: traces are refused"] : []),
    ...(head.isStalled() ? ["the chain is stalled: no validator has a new block"] : []),
    ...differences,
  ];
}

/** How validators differ: which ones get no calls and why, and which blocks wait for a majority. */
function differencesIn({ outside, waiting }: ReturnType<HeadTracker["differences"]>): string[] {
  const named = new Set(outside.map(({ label }) => label));
  const words = outside.map(({ label, outside: { words } }) => `${label} is not asked: ${words}`);
  for (const { number, hash, having } of waiting) {
    if (having.every((label) => named.has(label))) continue;
    words.push(
      `block ${number} waits: only ${having.join(", ")} ${having.length === 1 ? "has" : "have"} ${hash.slice(0, 10)}…`,
    );
  }
  return words;
}

/** The chain and each validator, for `/status`. */
export function upstreamStatus({ head, pool, traces, traceNodes, deadly }: Parts): object {
  const announced = head.announced();
  const { validators, lanes } = pool.status();
  const places = new Map(head.status().map((place) => [place.label, place]));
  return {
    chain: {
      head: announced === undefined ? null : { number: Number(announced.number), hash: announced.hash },
      stalled: head.isStalled(),
      secondsSinceBlock: Math.round(head.headAgeMs() / 1000),
      answering: head.answering(),
      epoch: head.epoch(),
      waiting: head.differences().waiting.map(({ number, hash, having }) => ({
        number: Number(number),
        hash,
        validators: having,
      })),
    },
    lanes,
    traces: {
      ...traces.stats(),
      deadlyCalls: deadly.stats(),
      problem: traces.problem() ?? null,
      nodes: traceNodes?.status() ?? "validators",
    },
    validators: validators.map((validator) => ({ ...places.get(validator.label), ...validator })),
  };
}
