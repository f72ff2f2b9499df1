import type { Rig } from "./rig.ts";

/** `not provable`: a stand-in answered, which proves nothing of Besu. */
export type Verdict = { ok: boolean | "not provable"; seen: string };

/** One line of the output. */
export type Check = {
  title: string;
  look: (options: { rig: Rig; short: boolean }) => Promise<Verdict>;
};
