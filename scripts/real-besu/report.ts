import { writeFile } from "node:fs/promises";
import type { Verdict } from "./check.ts";

export type Word = "ok" | "NOT OK" | "not provable" | "skipped";

/** One check as it is told; `seconds` is how long it took. */
export type CheckRecord = { title: string; proves: string; verdict: Word; seen: string; seconds: number };

/** `proven` where real Besu did all that was looked at; `incomplete` where checks were skipped for want of time. */
export type Report = {
  startedAt: string;
  seconds: number;
  /** `web3_clientVersion` of the first validator; null where none answered. */
  client: string | null;
  nodes: "processes" | "containers";
  verdict: "proven" | "failed" | "incomplete" | "played with a stand-in";
  exitCode: 0 | 1;
  checks: readonly CheckRecord[];
};

export function wordOf({ ok }: Verdict): Word {
  if (typeof ok === "string") return ok;
  return ok ? "ok" : "NOT OK";
}

/** What all checks together come to. A check that was left out for want of time leaves the run incomplete, which is no success. */
export function judge(
  checks: readonly CheckRecord[],
  { isOver, isStandIn }: { isOver: boolean; isStandIn: boolean },
): Pick<Report, "verdict" | "exitCode"> {
  if (checks.some(({ verdict }) => verdict === "NOT OK")) return { verdict: "failed", exitCode: 1 };
  if (isOver) return { verdict: "incomplete", exitCode: 1 };
  return { verdict: isStandIn ? "played with a stand-in" : "proven", exitCode: 0 };
}

/** @throws Error that names the file where it cannot be written. */
export async function writeReport(file: string, report: Report): Promise<void> {
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}
