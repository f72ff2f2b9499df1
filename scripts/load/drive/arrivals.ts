/** A part of a run in which the rate goes evenly from one value to another (or stays, where both are equal). */
export type Stage = { fromPerSecond: number; toPerSecond: number; durationMs: number };

export const arrivalKinds = ["constant", "poisson"] as const;
export type ArrivalKind = (typeof arrivalKinds)[number];

export type Arrivals = {
  /** When the next script is due, in milliseconds from the start; `undefined` once the plan has ended. Never goes back. */
  next(): number | undefined;
};

/**
 * The times at which scripts are due. They follow from the plan alone and never from answers, so the loop is open.
 *
 * With E(t) the arrivals that are expected until t (the integral of the rate), arrival k stands where E(t) = k for
 * `constant`; for `poisson` the steps between them are exponentially distributed with mean 1 instead of 1 exactly,
 * which is a Poisson process of the plan's rate also where that changes (time rescaling).
 *
 * Of several processes that share a plan each takes a `part`: every n-th arrival of `constant`, or a Poisson process of
 * an n-th of the rate. Together they are what one process would begin.
 */
export function createArrivals({
  stages,
  kind,
  random,
  part = { index: 0, of: 1 },
}: {
  stages: readonly Stage[];
  kind: ArrivalKind;
  random: () => number;
  part?: { index: number; of: number };
}): Arrivals {
  const step = kind === "constant" ? () => part.of : () => -Math.log(1 - random()) * part.of;
  let index = 0;
  let stageBeganMs = 0;
  let expectedBefore = 0;
  let target = kind === "constant" ? part.index : step();
  return {
    next() {
      for (;;) {
        const stage = stages[index];
        if (stage === undefined) return undefined;
        const inStage = target - expectedBefore;
        const inWhole = expectedIn(stage, stage.durationMs);
        // A rounding error must not give the last moment of a stage an arrival that belongs to the next one.
        if (inStage < inWhole - 1e-9) {
          target += step();
          return stageBeganMs + timeOf(stage, inStage);
        }
        index += 1;
        stageBeganMs += stage.durationMs;
        expectedBefore += inWhole;
      }
    },
  };
}

/** How many arrivals the plan expects between two times from its start. */
export function expectedBetween(stages: readonly Stage[], fromMs: number, toMs: number): number {
  let sum = 0;
  let beganMs = 0;
  for (const stage of stages) {
    const within = (timeMs: number) => Math.min(Math.max(timeMs - beganMs, 0), stage.durationMs);
    sum += expectedIn(stage, within(toMs)) - expectedIn(stage, within(fromMs));
    beganMs += stage.durationMs;
  }
  return sum;
}

export function planMs(stages: readonly Pick<Stage, "durationMs">[]): number {
  return stages.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

/** E(t) from a stage's beginning: a t + (b - a) t² / 2T. */
function expectedIn({ fromPerSecond, toPerSecond, durationMs }: Stage, timeMs: number): number {
  const slope = (toPerSecond - fromPerSecond) / durationMs;
  return ((fromPerSecond + (slope * timeMs) / 2) * timeMs) / 1000;
}

/** Where E(t) reaches a count: the smaller root of the quadratic, in the form that does not lose digits at small slopes. */
function timeOf({ fromPerSecond, toPerSecond, durationMs }: Stage, count: number): number {
  const perMs = fromPerSecond / 1000;
  const slope = (toPerSecond - fromPerSecond) / 1000 / durationMs;
  if (count === 0) return 0;
  return (2 * count) / (perMs + Math.sqrt(Math.max(0, perMs * perMs + 2 * slope * count)));
}
