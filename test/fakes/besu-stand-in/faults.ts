/** What a new version of Besu may have wrong with it, as the stand-in is told by STAND_IN_FAULT. */
export const standInFaults = [
  /** Its process ends at once. */
  "does not start",
  /** It answers, and takes no peer. */
  "does not sync",
  /** It follows the chain, and neither proposes nor seals. */
  "makes no blocks",
  /** Its process ends when all looked well: `ends later` after STAND_IN_ENDS_AFTER_MS. */
  "ends later",
  /** It begins a chain of its own. */
  "another chain",
  /** It knows no method of traces, which only who asks a trace node notices. */
  "runs no traces",
] as const;

export type StandInFault = (typeof standInFaults)[number];

export function readFault(env: Readonly<Record<string, string | undefined>>): StandInFault | undefined {
  return standInFaults.find((fault) => fault === env["STAND_IN_FAULT"]);
}

/** The version that it says it is. */
export function readStandInVersion(env: Readonly<Record<string, string | undefined>>): string {
  return env["STAND_IN_VERSION"] ?? "26.8.0";
}
