import { seededRandom } from "../seeded-random.ts";

/** One step of a run. The seed alone decides all steps, however fast the machine is. */
export type CrashStep =
  /** The claim with this index is made for the first time. */
  | { act: "claim"; index: number }
  /** A client asks for the state of a claim. */
  | { act: "follow"; index: number }
  | { act: "kill replica"; index: number }
  | { act: "kill Redis" }
  /** Connections to the chain fail. */
  | { act: "cut" }
  /** Calls reach the chain, but their answers are lost. */
  | { act: "mute" }
  /** The chain makes no blocks; then it loses its pool, as after the recovery of a network. */
  | { act: "stall" }
  /** Ends a cut, a mute or a stall. */
  | { act: "heal" };

/** The shortest time of a step. */
export const stepMs = 20;
/** An outage of so many steps lasts three times the faucets' patience, as an outage of minutes does in production. */
const longSteps = { min: 45, max: 70 };
const shortSteps = { min: 3, max: 15 };
const gapSteps = { min: 1, max: 15 };
const faultsCount = { min: 2, max: 5 };

/** Draws the steps of a run: claims in order, faults between them, then questions until all faults are over. */
export function drawCrashSteps({ seed, claims }: { seed: number; claims: number }): CrashStep[] {
  const random = seededRandom(seed);
  const between = ({ min, max }: { min: number; max: number }) => min + Math.floor(random() * (max - min));
  const faults = new Map<number, CrashStep[]>();
  let at = 0;
  for (let left = between(faultsCount); left > 0; left -= 1) {
    at += between(gapSteps);
    const lastsSteps = between(random() < 0.3 ? longSteps : shortSteps);
    const kind = random();
    if (kind < 0.2) faults.set(at, [{ act: "kill replica", index: random() < 0.5 ? 0 : 1 }]);
    else if (kind < 0.5) faults.set(at, [{ act: "kill Redis" }]);
    else {
      const act = kind < 0.6 ? "stall" : kind < 0.8 ? "cut" : "mute";
      faults.set(at, [{ act }]);
      at += act === "stall" ? between(longSteps) : lastsSteps;
      faults.set(at, [{ act: "heal" }]);
    }
  }
  return Array.from({ length: Math.max(claims, at) + 1 }, (_, step): CrashStep[] => [
    ...(faults.get(step) ?? []),
    step < claims ? { act: "claim", index: step } : { act: "follow", index: Math.floor(random() * claims) },
  ]).flat();
}
