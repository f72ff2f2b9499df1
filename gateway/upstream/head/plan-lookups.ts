import type { HeadLimits } from "./head-limits.ts";
import type { Lookup } from "./head-update.ts";
import type { Header } from "./read-header.ts";
import type { TrackedValidator } from "./validator.ts";

/** Adds the lookups that close gaps and tie far tips to the announced head. Notes when a validator gets one. */
export function planLookups({
  validators,
  head,
  lookups,
  limits,
  nowMs,
}: {
  validators: readonly TrackedValidator[];
  head: Header | undefined;
  lookups: Lookup[];
  limits: Pick<HeadLimits, "fillPauseMs">;
  nowMs: number;
}): void {
  if (head === undefined) return;
  for (const validator of validators) {
    const { label, standing, filledAtMs, tip, far } = validator;
    const other = otherFarTip(validator, validators);
    const isUnsure = far !== undefined && (far.sameAt === undefined || other !== far.also?.number);
    if (tip === undefined || (standing.kind !== "gap" && !isUnsure)) continue;
    if (filledAtMs !== undefined && nowMs - filledAtMs < limits.fillPauseMs) continue;
    if (standing.kind === "gap") lookups.push({ kind: "fill", label, from: standing.from, to: standing.to });
    else {
      const numbers = [head.number, tip.header.number];
      lookups.push({ kind: "verify", label, numbers: other === undefined ? numbers : [...numbers, other] });
    }
    validator.filledAtMs = nowMs;
  }
}

/** The highest tip below this validator's that another validator has, where both are far above the head. */
function otherFarTip(
  { tip, far }: TrackedValidator,
  validators: readonly TrackedValidator[],
): bigint | undefined {
  if (tip === undefined || far === undefined) return undefined;
  let highest: bigint | undefined;
  for (const other of validators) {
    const number = other.far?.sameAt === undefined ? undefined : other.tip?.header.number;
    if (number === undefined || number >= tip.header.number) continue;
    if (highest === undefined || number > highest) highest = number;
  }
  return highest;
}
