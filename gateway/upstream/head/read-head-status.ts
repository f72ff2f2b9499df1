import { answers, isOurs, type Outside, type TrackedValidator } from "./validator.ts";

/** A validator's place on the chain, for `/status` and metrics. */
export type ValidatorHeadStatus = {
  label: string;
  identity: "unknown" | "ours" | "foreign";
  /** Why it is foreign, or does not count although it is ours. */
  why: string | null;
  eligible: boolean;
  /** How it differs from the others. */
  outside: Outside["reason"] | null;
  height: number | null;
  /** Blocks below the announced head. */
  lag: number | null;
  source: "newHeads" | "polling";
  lastHeadAt: string | null;
  /** Time since it last answered a probe or sent a head; null where it never has. */
  silentMs: number | null;
  wsReconnects: number;
};

export function readHeadStatus({
  label,
  validator,
  feed,
  announced,
  eligible,
  lastHeadAt,
  nowMs,
}: {
  label: string;
  validator: TrackedValidator | undefined;
  feed: { source(): "newHeads" | "polling"; wsReconnects(): number } | undefined;
  announced: bigint | undefined;
  eligible: boolean;
  /** Wall milliseconds. */
  lastHeadAt: number | undefined;
  /** Monotonic milliseconds. */
  nowMs: number;
}): ValidatorHeadStatus {
  const ours = validator !== undefined && isOurs(validator);
  const height = ours ? validator.tip?.header.number : undefined;
  return {
    label,
    identity: validator?.standing.kind === "foreign" ? "foreign" : ours ? "ours" : "unknown",
    why: validator === undefined ? null : whyNot(validator),
    eligible,
    outside: validator?.outside?.reason ?? null,
    height: height === undefined ? null : Number(height),
    lag: height === undefined || announced === undefined ? null : Math.max(0, Number(announced - height)),
    source: feed?.source() ?? "polling",
    lastHeadAt: lastHeadAt === undefined ? null : new Date(lastHeadAt).toISOString(),
    silentMs: validator?.answeredAtMs === undefined ? null : Math.round(nowMs - validator.answeredAtMs),
    wsReconnects: feed?.wsReconnects() ?? 0,
  };
}

function whyNot(validator: TrackedValidator): string | null {
  const { standing, probed } = validator;
  if (probed && !answers(validator))
    return validator.isUnreadable ? (validator.problem ?? null) : "no answer";
  if (standing.kind === "foreign") return standing.why;
  if (standing.kind === "diverged") return `another block ${standing.at}`;
  return validator.outside?.words ?? null;
}
