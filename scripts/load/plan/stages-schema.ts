import { z } from "zod";
import { readDuration } from "../read-values.ts";
import { clientsMax, ratePerSecondMax } from "./plan.ts";

const stagesMax = 100;

/** A length of time as on the command line: 250ms, 30s, 5m. */
export const durationText = z.unknown().transform((given, context) => {
  const text = typeof given === "string" || typeof given === "number" ? String(given) : "nothing";
  const read = readDuration(text);
  if ("value" in read) return read.value;
  context.addIssue(`${"expected" in read ? read.expected : "a length of time"} was expected, not "${text}"`);
  return z.NEVER;
});

const rate = z.number().min(0).max(ratePerSecondMax);
const clients = z.number().int().min(0).max(clientsMax);

const stage = z
  .strictObject({
    rate: rate.optional(),
    clients: clients.optional(),
    /** Where the slope begins; without it the stage is a step. */
    from: z.number().min(0).max(ratePerSecondMax).optional(),
    for: durationText,
  })
  .superRefine((fields, context) => {
    const given = [fields.rate, fields.clients].filter((value) => value !== undefined);
    if (given.length !== 1) {
      context.addIssue("exactly one of rate and clients was expected, such as { rate: 100, for: 30s }");
      return;
    }
    if (fields.clients !== undefined && !clients.safeParse(fields.from ?? 0).success) {
      context.addIssue({
        code: "custom",
        message: `a whole number of clients, at most ${clientsMax}, was expected`,
        path: ["from"],
      });
    }
  });

/** Rates over time, or clients over time; not both in one run. */
export const stagesSchema = z
  .array(stage)
  .min(1)
  .max(stagesMax)
  .superRefine((stages, context) => {
    const isMixed = stages.some(({ rate: of }) => (of === undefined) !== (stages[0]?.rate === undefined));
    if (isMixed) context.addIssue("all stages have a rate, or all have clients: one run cannot have both");
    if (stages.every(({ rate: of, clients: some, from }) => !((of ?? some ?? 0) + (from ?? 0) > 0))) {
      context.addIssue("no stage has anything to do: a rate or a number of clients above 0 was expected");
    }
  });

export type StageFields = z.output<typeof stagesSchema>[number];
