import type { Verdict } from "./check.ts";
import { checks } from "./checks.ts";
import { type CheckRecord, judge, type Report, wordOf, writeReport } from "./report.ts";
import { openRig, type Rig } from "./rig.ts";

/**
 * Plays what only real Besu can prove and prints a line for each check: `ok`, `NOT OK`, `not provable` where a stand-in
 * answered, or `skipped` with the reason, and what was seen; then the verdict of all. Answers 0 where none is NOT OK and all
 * were looked at.
 */
export async function runRealBesu({
  besuHome,
  upgradeTo,
  configFile = "config/network.yaml",
  short,
  only = "",
  minutesMax = 15,
  reportFile,
  env,
  signal,
  print,
  now = Date.now,
}: {
  /** An unpacked Besu; without it containers. */
  besuHome: string | undefined;
  /** Another one, which the validators are moved to one after the other. */
  upgradeTo?: string | undefined;
  /** The network's configuration. */
  configFile?: string;
  short: boolean;
  /** Part of the titles of those that are looked at, besides the first. */
  only?: string;
  /** What has not begun by then is skipped, and the verdict is that it is incomplete. */
  minutesMax?: number;
  /** Gets the whole as JSON. */
  reportFile?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  print: (text: string) => void;
  now?: () => number;
}): Promise<0 | 1> {
  const startedAtMs = now();
  const secondsSince = (sinceMs: number) => Math.round((now() - sinceMs) / 1000);
  const isOver = () => now() - startedAtMs >= minutesMax * 60_000;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(minutesMax * 60_000)]);
  const [first] = checks;
  const chosen = checks.filter((check) => check === first || check.title.includes(only));
  const records: CheckRecord[] = [];
  let client: string | null = null;
  let leftOut = 0;

  function tell(record: CheckRecord): void {
    records.push(record);
    print(`${record.verdict.padEnd(12)} ${record.title}: ${record.seen} (${record.seconds} s)`);
  }

  const rig = await openRig({ besuHome, upgradeTo, configFile, env, signal: deadline });
  try {
    for (const { title, proves, look } of chosen) {
      if (signal.aborted) return 1;
      const begunAtMs = now();
      if (isOver()) leftOut += 1;
      const verdict: Verdict = isOver()
        ? { ok: "skipped", seen: `the ${minutesMax} minutes are over` }
        : await look({ rig, short }).catch(failure);
      tell({ title, proves, verdict: wordOf(verdict), seen: verdict.seen, seconds: secondsSince(begunAtMs) });
      client ??= await clientOf(rig);
      // Nothing that follows would tell anything.
      if (verdict.ok === false && title === first?.title) break;
    }
  } finally {
    await rig.close();
  }
  const isStandIn = client?.includes("stand-in") === true;
  const { verdict, exitCode } = judge(records, { isOver: leftOut > 0, isStandIn });
  print(totalOf(records, verdict));
  if (reportFile !== undefined) {
    const nodes = besuHome === undefined ? "containers" : "processes";
    await writeReport(reportFile, {
      ...{ startedAt: new Date(startedAtMs).toISOString(), seconds: secondsSince(startedAtMs) },
      ...{ client, nodes, verdict, exitCode, checks: records },
    });
  }
  return exitCode;
}

function failure(error: unknown): Verdict {
  return { ok: false, seen: error instanceof Error ? error.message : String(error) };
}

async function clientOf(rig: Pick<Rig, "node">): Promise<string | null> {
  const answer = await rig.node(0, "web3_clientVersion");
  return typeof answer?.result === "string" ? answer.result : null;
}

function totalOf(records: readonly CheckRecord[], verdict: Report["verdict"]): string {
  const count = (word: CheckRecord["verdict"]) => records.filter((record) => record.verdict === word).length;
  const [failed, skipped] = [count("NOT OK"), count("skipped")];
  const counts = `${count("ok")} ok, ${count("not provable")} not provable, ${skipped} skipped, ${failed} NOT OK`;
  return `Verdict: ${verdict} (${counts}).`;
}
