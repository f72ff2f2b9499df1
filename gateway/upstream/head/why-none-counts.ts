import { answers, isOurs, type TrackedValidator } from "./validator.ts";

/**
 * Why no validator counts, in words for operators and clients: how many are left out for which reason, never an address.
 * Undefined where one counts, where one has not answered its first probe yet, and where all are merely silent.
 */
export function whyNoneCounts(validators: readonly TrackedValidator[]): string | undefined {
  if (validators.some((validator) => !validator.probed || (answers(validator) && isOurs(validator))))
    return undefined;
  if (validators.every((validator) => !answers(validator) && !validator.isUnreadable)) return undefined;
  const counts = new Map<string, number>();
  for (const validator of validators) {
    const reason = reasonOf(validator);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const reasons = [...counts].map(([reason, count]) =>
    validators.length === 1 ? reason : `${count} × ${reason}`,
  );
  return reasons.join(", ");
}

function reasonOf(validator: TrackedValidator): string {
  if (!answers(validator))
    return validator.isUnreadable ? (validator.problem ?? "cannot be read") : "no answer";
  if (validator.standing.kind === "foreign") return `another chain (${validator.standing.why})`;
  return "validators have different genesis blocks, and none has most of them";
}
