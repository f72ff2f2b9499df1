import { seededRandom } from "../seeded-random.ts";

/** What happens next in a run of crashes. All of them follow from the seed, whatever the machine does meanwhile. */
export type CrashStep =
  /** The claim at this place is made for the first time. */
  | { act: "claim"; index: number }
  /** Somebody asks what became of a claim. */
  | { act: "follow"; index: number }
  | { act: "kill replica"; index: number }
  | { act: "kill Redis" }
  /** No connection to the chain comes through. */
  | { act: "cut" }
  /** Calls reach the chain, and their answers are lost. */
  | { act: "mute" }
  /** No blocks are made; at its end the pool is lost, as in a network that is recovered. */
  | { act: "stall" }
  /** What was cut, muted or stalled goes on. */
  | { act: "heal" };

/** A step takes so long at least. */
export const stepMs = 20;
/** So many steps are three times the faucets' patience: as outages of minutes are in earnest. */
const longSteps = { min: 45, max: 70 };
const shortSteps = { min: 3, max: 15 };
const gapSteps = { min: 1, max: 15 };
const faultsCount = { min: 2, max: 5 };

/** Draws the order of a run: claims one after the other, what befalls meanwhile, and questions until that is over. */
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
