import { answers, isOurs, type Member } from "./validator.ts";

/**
 * Why no validator counts, in words for operators and clients: how many are left out for which reason, never an address.
 * Undefined where one counts, where one has not been heard yet, and where all are merely silent.
 */
export function whyNoneCounts(members: readonly Member[]): string | undefined {
  if (members.some((member) => !member.probed || (answers(member) && isOurs(member)))) return undefined;
  if (members.every((member) => !answers(member) && !member.isUnreadable)) return undefined;
  const counts = new Map<string, number>();
  for (const member of members) {
    const reason = reasonOf(member);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const reasons = [...counts].map(([reason, count]) =>
    members.length === 1 ? reason : `${count} × ${reason}`,
  );
  return reasons.join(", ");
}

function reasonOf(member: Member): string {
  if (!answers(member)) return member.isUnreadable ? (member.problem ?? "cannot be read") : "no answer";
  if (member.standing.kind === "foreign") return `another chain (${member.standing.why})`;
  return "validators have different genesis blocks, and none has most of them";
}
