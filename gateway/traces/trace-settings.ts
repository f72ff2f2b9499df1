import { z } from "zod";
import { bounded } from "../../lib/config/schemas.ts";

/** The bounds of traces: the section `traces` of the gateway's configuration. */
export type TraceSettings = z.output<typeof traceSettingsSchema>;

export const traceSettingsSchema = z.strictObject({
  /** Gas that one trace runs: of its calls, of the transaction, of all blocks together. */
  gasMax: bounded(1_000_000_000, 21_000).default(2_000_000),
  /** Calls of one trace_callMany. */
  callsMax: bounded(1000).default(16),
  /** Allows vmTrace, stateDiff, storage and memory, which hold many times as much. Only for trace nodes. */
  heavyOptions: z.boolean().default(false),
  /** Healthy validators without a trace that must be left when one begins. Fewer where there are fewer validators in all. */
  sparedMin: bounded(64, 0).default(2),
  /** Traces that wait for their turn, in this process and of one key. */
  queueMax: bounded(100_000).default(256),
  queuePerKeyMax: bounded(100_000).default(64),
});

/** Calls that ended a validator: the section `deadlyCalls`. */
export type DeadlyCallSettings = z.output<typeof deadlyCallSettingsSchema>;

export const deadlyCallSettingsSchema = z.strictObject({
  /** How long such a trace is refused, and all traces of its key. */
  refusedMs: bounded(7 * 24 * 3_600_000).default(600_000),
  /** How long any other such call is refused. It may only have been there when its validator ended, and many ask the same. */
  callRefusedMs: bounded(7 * 24 * 3_600_000).default(60_000),
  /** How many calls are remembered, the latest ones. All gateways share them. */
  rememberedMax: bounded(100_000).default(1000),
  /** A key loses traces after so many that ended their validators. */
  strikesMax: bounded(1000).default(1),
});
