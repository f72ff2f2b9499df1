import { pino } from "pino";
import type { Test } from "tap";
import type { HeadLimits } from "../../../../gateway/upstream/head/head-limits.ts";
import { createHeadTracker } from "../../../../gateway/upstream/head/head-tracker.ts";
import type { NewHead } from "../../../../gateway/upstream/head/publish-heads.ts";

export type TrackerUnderTest = ReturnType<typeof startTracker>;

/** A tracker with blocks every 200 ms unless told otherwise, and everything that it told; stopped when the test ends. */
export function startTracker(
  t: Test,
  {
    validators,
    blockTimeMs = 200,
    genesisHash,
    limits = {},
  }: {
    validators: readonly { url: string; wsUrl?: string | undefined }[];
    blockTimeMs?: number;
    genesisHash?: string;
    limits?: Partial<HeadLimits>;
  },
) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const tracker = createHeadTracker({
    validators: validators.map(({ url, wsUrl }, index) => ({ label: String(index), url, wsUrl })),
    chainId: 8845n,
    genesisHash,
    blockTimeMs,
    logger,
    limits,
  });
  t.teardown(tracker.stop);
  const heads: NewHead[] = [];
  const epochs: string[] = [];
  tracker.onHead((head) => heads.push(head));
  tracker.onEpoch((reason) => epochs.push(reason));
  return {
    ...tracker,
    heads,
    epochs,
    /** Lines of the log with these words. */
    said: (message: string) => lines.filter((line) => line["msg"] === message),
    eligible: () =>
      tracker
        .status()
        .filter(({ eligible }) => eligible)
        .map(({ label }) => label)
        .join(""),
  };
}
