import { answers, isOurs, type Member, type Outside } from "./validator.ts";

/** One validator's place on the chain, for `/status` and metrics. */
export type ValidatorHeadStatus = {
  label: string;
  identity: "unknown" | "ours" | "foreign";
  /** Why it is foreign, or not counted though it is ours. */
  why: string | null;
  eligible: boolean;
  /** In what way it stands outside of what the others say. */
  outside: Outside["reason"] | null;
  height: number | null;
  /** Blocks below the announced head. */
  lag: number | null;
  source: "newHeads" | "polling";
  lastHeadAt: string | null;
  /** Since it last answered a probe or brought a head; null where it never has. */
  silentMs: number | null;
  wsReconnects: number;
};

export function readHeadStatus({
  label,
  member,
  feed,
  announced,
  eligible,
  lastHeadAt,
  nowMs,
}: {
  label: string;
  member: Member | undefined;
  feed: { source(): "newHeads" | "polling"; wsReconnects(): number } | undefined;
  announced: bigint | undefined;
  eligible: boolean;
  /** Wall milliseconds. */
  lastHeadAt: number | undefined;
  /** Monotonic milliseconds. */
  nowMs: number;
}): ValidatorHeadStatus {
  const ours = member !== undefined && isOurs(member);
  const height = ours ? member.tip?.header.number : undefined;
  return {
    label,
    identity: member?.standing.kind === "foreign" ? "foreign" : ours ? "ours" : "unknown",
    why: member === undefined ? null : whyNot(member),
    eligible,
    outside: member?.outside?.reason ?? null,
    height: height === undefined ? null : Number(height),
    lag: height === undefined || announced === undefined ? null : Math.max(0, Number(announced - height)),
    source: feed?.source() ?? "polling",
    lastHeadAt: lastHeadAt === undefined ? null : new Date(lastHeadAt).toISOString(),
    silentMs: member?.answeredAtMs === undefined ? null : Math.round(nowMs - member.answeredAtMs),
    wsReconnects: feed?.wsReconnects() ?? 0,
  };
}

function whyNot(member: Member): string | null {
  const { standing, probed } = member;
  if (probed && !answers(member)) return member.isUnreadable ? (member.problem ?? null) : "no answer";
  if (standing.kind === "foreign") return standing.why;
  if (standing.kind === "diverged") return `another block ${standing.at}`;
  return member.outside?.words ?? null;
}
