import { z } from "zod";
import { bounded } from "../../lib/config/schemas.ts";

/** The bounds of traces: the section `traces` of the gateway's configuration. */
export type TraceSettings = z.output<typeof traceSettingsSchema>;

export const traceSettingsSchema = z.strictObject({
  /** Gas of what one trace runs: of its calls, of the transaction, of all blocks together. */
  gasMax: bounded(1_000_000_000, 21_000).default(2_000_000),
  /** Calls of one trace_callMany. */
  callsMax: bounded(1000).default(16),
  /** Lets vmTrace, stateDiff, storage and memory through, which hold many times as much. Only for a trace node. */
  heavyOptions: z.boolean().default(false),
  /** Validators that run no trace and are healthy, as long as one begins. Fewer are asked for where there are fewer in all. */
  sparedMin: bounded(64, 0).default(2),
  /** Traces that wait for their turn in this process, and of one key. */
  queueMax: bounded(100_000).default(256),
  queuePerKeyMax: bounded(100_000).default(64),
});

/** Calls that have ended a validator: the section `deadlyCalls`. */
export type DeadlyCallSettings = z.output<typeof deadlyCallSettingsSchema>;

export const deadlyCallSettingsSchema = z.strictObject({
  /** How long a trace is refused that did, and its key's traces are. */
  refusedMs: bounded(7 * 24 * 3_600_000).default(600_000),
  /** How long any other call is: it may only have been there when its validator ended, and many ask the same. */
  callRefusedMs: bounded(7 * 24 * 3_600_000).default(60_000),
  /** Calls that are remembered, the latest; all gateways share them. */
  rememberedMax: bounded(100_000).default(1000),
  /** After so many traces that ended their validators a key loses traces. */
  strikesMax: bounded(1000).default(1),
});
