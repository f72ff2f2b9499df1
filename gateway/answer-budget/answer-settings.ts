import { z } from "zod";
import { bounded } from "../../lib/config/schemas.ts";

/** How much memory answers may hold. `config/gateway.yaml` explains each bound. */
export const answerSettingsSchema = z.strictObject({
  bodyBytesMax: bounded(1024 * 1024 * 1024).default(32 * 1024 * 1024),
  keyBytesMax: bounded(64 * 1024 * 1024 * 1024).default(64 * 1024 * 1024),
  processBytesMax: bounded(64 * 1024 * 1024 * 1024).default(192 * 1024 * 1024),
  readBytesPerSecondMin: bounded(1024 * 1024 * 1024).default(16 * 1024),
  readGraceMs: bounded(600_000).default(10_000),
});

export type AnswerSettings = z.output<typeof answerSettingsSchema>;
