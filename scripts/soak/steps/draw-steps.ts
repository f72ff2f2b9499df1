import { seededRandom } from "../seeded-random.ts";
import { type FaultName, faultNames } from "./faults.ts";

/** One step of a run. The seed alone decides all steps, however fast the machine is. */
export type Step =
  /** An actor begins its next call. */
  | { act: "turn"; actor: string }
  /** The chain makes a block. */
  | { act: "block" }
  /** The second gateway stops gracefully and starts again. */
  | { act: "restart" }
  | { act: "strike"; fault: FaultName; validator: number }
  | { act: "heal"; validator: number };

export type StepsOptions = {
  seed: number;
  /** How many turns each actor has. */
  turns: Readonly<Record<string, number>>;
  /** Turns between two blocks. */
  blockEvery: number;
  /** Turns between two restarts of a gateway; without it there are none. */
  restartEvery?: number;
  validators: number;
  /** For how many turns a fault lasts, and how many turns pass until the next fault. */
  strike: { min: number; max: number };
  pause: { min: number; max: number };
};

/** Draws the steps of a run: actors take turns between blocks, restarts, and faults of one validator at a time. */
export function drawSteps({
  seed,
  turns,
  blockEvery,
  restartEvery = Number.POSITIVE_INFINITY,
  validators,
  strike,
  pause,
}: StepsOptions): Step[] {
  const random = seededRandom(seed);
  const between = ({ min, max }: { min: number; max: number }) => min + Math.floor(random() * (max - min));
  const actors = inRandomOrder(
    Object.entries(turns).flatMap(([actor, count]) => Array.from({ length: count }, () => actor)),
    random,
  );
  const steps: Step[] = [];
  let struck: number | undefined;
  let changesAt = between(pause);
  for (const [turn, actor] of actors.entries()) {
    if (turn === changesAt) {
      if (struck === undefined) {
        struck = Math.floor(random() * validators);
        const fault = faultNames[Math.floor(random() * faultNames.length)] ?? "die";
        steps.push({ act: "strike", fault, validator: struck });
        changesAt += between(strike);
      } else {
        steps.push({ act: "heal", validator: struck });
        struck = undefined;
        changesAt += between(pause);
      }
    }
    if (turn % blockEvery === blockEvery - 1) steps.push({ act: "block" });
    if (turn % restartEvery === restartEvery - 1) steps.push({ act: "restart" });
    steps.push({ act: "turn", actor });
  }
  return steps;
}

export function inRandomOrder<Item>(items: readonly Item[], random: () => number): Item[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const [moved] = order.splice(Math.floor(random() * (last + 1)), 1);
    if (moved !== undefined) order.push(moved);
  }
  return order;
}
