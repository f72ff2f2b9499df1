import { checks } from "./checks.ts";
import { openRig } from "./rig.ts";

/**
 * Plays what only real Besu can prove and prints a line for each check: `ok`, `NOT OK`, or `not provable` where a stand-in
 * answered, and what was seen. Answers 0 unless a check is NOT OK.
 */
export async function runRealBesu({
  besuHome,
  configFile = "config/network.yaml",
  short,
  env,
  signal,
  print,
}: {
  /** An unpacked Besu; without it containers. */
  besuHome: string | undefined;
  /** The network's configuration. */
  configFile?: string;
  short: boolean;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  print: (text: string) => void;
}): Promise<0 | 1> {
  const rig = await openRig({ besuHome, configFile, env, signal });
  let failed = 0;
  try {
    for (const { title, look } of checks) {
      if (signal.aborted) return 1;
      const begunAt = performance.now();
      const verdict = await look({ rig, short }).catch((error: unknown) => ({
        ok: false as const,
        seen: error instanceof Error ? error.message : String(error),
      }));
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      const word = verdict.ok === "not provable" ? "not provable" : verdict.ok ? "ok" : "NOT OK";
      if (verdict.ok === false) failed += 1;
      print(`${word.padEnd(12)} ${title}: ${verdict.seen} (${seconds} s)`);
      // Nothing that follows would tell anything.
      if (verdict.ok === false && title === "first block") return 1;
    }
  } finally {
    await rig.close();
  }
  print(failed === 0 ? "All that was looked at is ok." : `${failed} of ${checks.length} are NOT OK.`);
  return failed === 0 ? 0 : 1;
}
