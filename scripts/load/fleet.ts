import type { Sends } from "./mix/settle-senders.ts";
import type { Recorded } from "./record/recorder.ts";
import type { SelfUse } from "./record/self-watch.ts";
import type { Slice } from "./record/series.ts";
import type { Figures } from "./thresholds/judge-thresholds.ts";

export type EndSignal = "SIGINT" | "SIGTERM";
/** Why a run ended before its plan did. */
export type EndedBy = EndSignal | "threshold" | "lost process";

export type LeftOut = readonly { item: string; placeholder: string }[];

/** The last whole second of a run. */
export type Look = { second: Slice; failed: number; inFlight: number; queued: number };

export type FleetResult = {
  recorded: Recorded;
  figures: Figures;
  durationMs: number;
  self: SelfUse;
  leftOut: LeftOut;
  /** Where the load file sends. */
  sends: Sends | undefined;
  /** A sentence each: processes whose figures are missing. */
  lost: readonly string[];
};

/** What runs a plan: this process, or several of them. */
export type Fleet = {
  /** Asks the gateway what the load file needs, and warms up. @throws GatewayError */
  prepare(): Promise<void>;
  /** Resolves when the last script has ended. */
  run(): Promise<FleetResult>;
  /** Undefined while the first second has not ended. */
  look(): Look | undefined;
  /** So far; undefined as long as nothing is known. */
  figures(): Figures | undefined;
  /** No more scripts; what is in flight may be answered for a moment. */
  end(): void;
  close(): Promise<void>;
};
