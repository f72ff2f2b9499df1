import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

const positive = z.number().positive();

/** What was measured, on one machine in one run; docs/scale.md is reckoned from it. */
const measuredSchema = z.strictObject({
  at: z.string(),
  /** Processor and load while it ran: figures of processor time hardly depend on the load, those of time do. */
  machine: z.string(),
  /** Requests a second of processor time, by `npm run bench`: lone calls that validators answer, and the mix of a usual load. */
  gateway: z.strictObject({ loneCalls: positive, mixedCalls: positive }),
  webSocket: z.strictObject({ idleSocketBytes: positive, notificationMicros: positive }),
  redis: z.strictObject({
    keys: positive,
    bytesPerKey: positive,
    /** A second of Redis's processor time. */
    lookUps: positive,
    leases: positive,
  }),
  keyCacheBytes: positive,
  /** Scripts a second for one busy key, with so many processes. */
  leaseScripts: z.strictObject({ one: positive, two: positive }),
});

export type Measured = z.output<typeof measuredSchema>;

const file = new URL("measured.json", import.meta.url);

export function readMeasured(): Measured {
  return measuredSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

export function writeMeasured(measured: Measured): void {
  writeFileSync(file, `${JSON.stringify(measuredSchema.parse(measured), null, 2)}\n`);
}
