import type { HeadLimits } from "./head-limits.ts";
import type { Candidate } from "./next-head.ts";
import { answers, isOurs, type Outside, type TrackedValidator } from "./validator.ts";

/**
 * How a validator differs from the others, and when to look again. A newest block that is not announced is normal at first.
 * Half a second later it is one that no other validator has.
 */
export function outsideOf({
  validator,
  validators,
  candidates,
  limits,
  nowMs,
}: {
  validator: TrackedValidator;
  validators: readonly TrackedValidator[];
  /** Blocks that could be announced next and wait. */
  candidates: readonly Candidate[];
  limits: Pick<HeadLimits, "followMs" | "failuresMax">;
  nowMs: number;
}): { outside?: Outside; lookAgainAtMs?: number } {
  const { standing, failures, problem } = validator;
  if (failures >= limits.failuresMax) {
    return validator.isUnreadable ? { outside: { reason: "unreadable", words: problem ?? "" } } : {};
  }
  switch (standing.kind) {
    case "foreign":
      return { outside: { reason: "another_chain", words: `it is of another chain (${standing.why})` } };
    case "diverged":
      return { outside: { reason: "another_block", words: `it has another block ${standing.at}` } };
    case "forged":
      return { outside: { reason: "no_seals", words: `its block ${standing.at} has no quorum of seals` } };
    case "unbelieved":
      return { outside: { reason: "far_above", words: "it tells a number far above all others" } };
    default:
      return alone({ validator, validators, candidates, limits, nowMs });
  }
}

function alone({
  validator,
  validators,
  candidates,
  limits,
  nowMs,
}: Parameters<typeof outsideOf>[0]): ReturnType<typeof outsideOf> {
  const { contradicted } = validator;
  if (contradicted !== undefined && nowMs < contradicted.untilMs) {
    const words = `it told another block ${contradicted.number}`;
    return { outside: { reason: "another_block", words }, lookAgainAtMs: contradicted.untilMs };
  }
  const sinceMs = aloneSince(validator, validators, candidates);
  if (sinceMs === undefined) return {};
  const others = validators.filter((other) => other !== validator && answers(other) && isOurs(other));
  if (others.length < 2) return {};
  const dueAtMs = sinceMs + limits.followMs;
  const words = `nobody else has its block ${validator.tip?.header.number}`;
  return nowMs < dueAtMs ? { lookAgainAtMs: dueAtMs } : { outside: { reason: "alone", words } };
}

/** Since when it alone has reported a block above the head. */
function aloneSince(
  validator: TrackedValidator,
  validators: readonly TrackedValidator[],
  candidates: readonly Candidate[],
): number | undefined {
  const candidate = candidates.find(({ having }) => having.includes(validator.label));
  if (candidate !== undefined) return candidate.having.length === 1 ? candidate.seenAtMs : undefined;
  // Its blocks are not linked to the head yet, which may only take a moment.
  const { tip, unlinkedSinceMs } = validator;
  const isHighest = validators.every(
    (other) =>
      other === validator || other.tip === undefined || other.tip.header.number < (tip?.header.number ?? 0n),
  );
  return isHighest ? unlinkedSinceMs : undefined;
}
