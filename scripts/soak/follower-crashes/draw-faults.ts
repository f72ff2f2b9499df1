import type { FollowPoint } from "../../../api/follower/follow-point.ts";
import { seededRandom } from "../seeded-random.ts";

/**
 * `kill`: the follower kills itself. `postgres`: PostgreSQL is killed with SIGKILL and comes back. `cut`: the
 * connections to the chain break. `revert`: the chain goes back and continues with other blocks.
 */
export type Fault = { what: "kill" | "postgres" | "cut" | "revert"; point: FollowPoint; nth: number };

export const crashPoints: readonly FollowPoint[] = [
  ...(["read", "before write", "in transaction", "before commit", "written", "emptied"] as const),
];
const points = crashPoints.filter((point) => point !== "emptied");
const kinds = ["kill", "kill", "postgres", "cut"] as const;
const nthMax = 12;
/** By the 45th range, of five blocks each, the old blocks are indexed, and some that can be taken back. */
const revertNthMin = 45;

/** Draws a run's faults in order. The same seed gives the same faults; any six seeds in a row cover every point. */
export function drawFaults(seed: number): Fault[] {
  const random = seededRandom(seed);
  const pick = <Value>(values: readonly Value[], otherwise: Value) =>
    values[Math.floor(random() * values.length)] ?? otherwise;
  const faults = Array.from({ length: 3 + Math.floor(random() * 3) }, (_, index): Fault => {
    const ofSeed = index === 0 ? points[seed % crashPoints.length] : undefined;
    const point = ofSeed ?? pick(points, "read");
    return { what: pick(kinds, "kill"), point, nth: 1 + Math.floor(random() * nthMax) };
  });
  if (seed % crashPoints.length === points.length || random() < 0.3) {
    const nth = revertNthMin + Math.floor(random() * nthMax);
    faults.push({ what: "revert", point: pick(points, "read"), nth });
    faults.push({ what: pick(kinds, "kill"), point: "emptied", nth: 1 });
  }
  return faults;
}
