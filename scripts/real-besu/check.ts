import type { Rig } from "./rig.ts";

/**
 * What came of a look. `not provable`: a stand-in answered, which proves nothing of Besu. `skipped`: it was not looked at, and
 * `seen` says why.
 */
export type Verdict = { ok: boolean | "not provable" | "skipped"; seen: string };

/** One line of the output. */
export type Check = {
  title: string;
  /** What stands-in cannot prove of it. */
  proves: string;
  look: (options: { rig: Rig; short: boolean }) => Promise<Verdict>;
};
