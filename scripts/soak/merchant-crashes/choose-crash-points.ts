import { seededRandom } from "../seeded-random.ts";
import { crashPoints } from "./draw-steps.ts";

/** Chooses where each api ends itself: both at the seed's own point until one has reached it, then one at a drawn point. */
export function createCrashPoints({
  seed,
  findings,
}: {
  seed: number;
  findings: { faults: string[]; points: Set<string> };
}) {
  const ownPoint = crashPoints[seed % crashPoints.length] ?? "in transaction";
  let isOver = false;
  return {
    /** From now on no api ends itself. */
    stop(): void {
      isOver = true;
    },
    ofReplica(index: number) {
      const random = seededRandom(seed * 1000 + index);
      return {
        nextPoint(): string {
          if (isOver || findings.points.has(ownPoint)) return "";
          return `${ownPoint}:${ownPoint.startsWith("key") ? 1 : 1 + Math.floor(random() * 8)}`;
        },
        onPoint(point: string): void {
          findings.points.add(point.replace(/:\d+$/, ""));
          findings.faults.push(`api ${index}: kill -9 ${point}`);
        },
      };
    },
  };
}
