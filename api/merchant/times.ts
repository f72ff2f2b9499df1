import { z } from "zod";
import { timesOf } from "../records/values.ts";

/** A time as records have it; beside it stands the same in Unix seconds. */
export const moment = z.iso.datetime().meta({ description: "ISO 8601, UTC" });

/** A time in both forms, to the second. */
export function timeOf(at: Date): { text: string; unix: number } {
  const { timestamp, timestampUnix } = timesOf(Math.floor(at.getTime() / 1000));
  return { text: timestamp, unix: timestampUnix };
}
