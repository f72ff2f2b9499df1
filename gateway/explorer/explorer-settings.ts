import { z } from "zod";
import { bounded } from "../../lib/config/schemas.ts";

export type ExplorerSettings = z.output<typeof explorerSettingsSchema>;

/** The bounds of what the explorer behind the gateway may take; `config/gateway.yaml` explains each. */
export const explorerSettingsSchema = z.strictObject({
  openMax: bounded(100_000).default(500),
  openPerKeyMax: bounded(100_000).default(100),
  answerBytesMax: bounded(1024 * 1024 * 1024).default(32 * 1024 * 1024),
  headTimeoutMs: bounded(120_000).default(20_000),
  bodyTimeoutMs: bounded(3_600_000).default(120_000),
  stallMsMax: bounded(600_000).default(30_000),
  eventsMsMax: bounded(86_400_000).default(3_600_000),
});
