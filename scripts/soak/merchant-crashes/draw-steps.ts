import type { CrashPoint } from "../../../api/crash-point.ts";
import { seededRandom } from "../seeded-random.ts";
import { type PaymentWay, paymentWays } from "./invoice-payer.ts";

/** One step of a run. The seed alone decides all steps, however fast the machine is. */
export type MerchantStep =
  | { act: "buy"; buyer: number }
  /** An earlier buyer asks for its key again, at both replicas at once. */
  | { act: "ask again"; buyer: number }
  | { act: "invoice"; way: PaymentWay }
  | { act: "kill api"; index: number }
  | { act: "kill PostgreSQL" }
  | { act: "kill Redis" };

/** Every point between two steps of a booking, of an issue and of a delivery. */
export const crashPoints: readonly CrashPoint[] = [
  ...(["in transaction", "key inserted", "before commit", "key issued", "booked", "read"] as const),
  ...(["claimed", "sent", "finished"] as const),
];

const buyersCount = 6;
const asksCount = 3;
const faultsCount = { min: 2, max: 3 };

/** Draws a run: every way of paying once, some keys, and faults between them. */
export function drawMerchantSteps(seed: number): { steps: MerchantStep[]; buyers: number } {
  const random = seededRandom(seed);
  const draw = (count: number) => Math.floor(random() * count);
  const steps: MerchantStep[] = [
    ...paymentWays.map((way): MerchantStep => ({ act: "invoice", way })),
    ...Array.from({ length: buyersCount }, (_, buyer): MerchantStep => ({ act: "buy", buyer })),
    ...Array.from(
      { length: asksCount },
      (): MerchantStep => ({ act: "ask again", buyer: draw(buyersCount) }),
    ),
  ];
  for (let at = steps.length - 1; at > 0; at -= 1) {
    const other = draw(at + 1);
    const [one, two] = [steps[at], steps[other]];
    if (one !== undefined && two !== undefined) [steps[at], steps[other]] = [two, one];
  }
  const faults = faultsCount.min + draw(faultsCount.max - faultsCount.min + 1);
  for (let count = 0; count < faults; count += 1) {
    const kind = draw(4);
    const fault: MerchantStep =
      kind === 0
        ? { act: "kill PostgreSQL" }
        : kind === 1
          ? { act: "kill Redis" }
          : { act: "kill api", index: draw(2) };
    steps.splice(3 + draw(steps.length - 3), 0, fault);
  }
  return { steps, buyers: buyersCount };
}
