import type { HeadEvent } from "./due-heads.ts";
import type { Header } from "./read-header.ts";

/** A validator's answer to a probe: who it is, and its latest block or only that block's number. */
export type Probe = {
  chainId: bigint;
  genesis: Header;
  number: bigint;
  latest: Header | undefined;
  sentAtMs: number;
};

/** Why a probe failed. `isUnreadable`: it was answered, and the answer could not be read. */
export type ProbeFailure = { reason: string; isUnreadable: boolean };

/** A block above the head that some validators report and that is not announced. */
export type WaitingHead = { number: bigint; hash: string; having: readonly string[] };

/** What to ask a validator next. "verify": its blocks at the head's number, at its tip's and at another tip's. */
export type Lookup =
  | { kind: "probe"; label: string }
  | { kind: "fill"; label: string; from: bigint; to: bigint }
  | { kind: "verify"; label: string; numbers: readonly bigint[] };

/** What follows from a report. `lookAgainAtMs`: when to settle again though nothing is reported. */
export type HeadUpdate = {
  events: HeadEvent[];
  lookups: Lookup[];
  lookAgainAtMs: number | undefined;
};
