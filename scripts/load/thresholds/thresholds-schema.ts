import { z } from "zod";
import { durationText } from "../plan/stages-schema.ts";
import { readCondition, readMetric, type ThresholdRule } from "./rule.ts";

const metricsMax = 100;
const conditionsMax = 20;

const condition = z.union([
  z.string().transform((threshold) => ({ threshold, abortOnFail: false, delayAbortEval: 0 })),
  z.strictObject({
    threshold: z.string(),
    abortOnFail: z.boolean().default(false),
    delayAbortEval: durationText.default(0),
  }),
]);

/** `thresholds` of the load file, in the words of k6: conditions by metric. */
export const thresholdsSchema = z
  .record(z.string(), z.array(condition).min(1).max(conditionsMax))
  .transform((given, context): ThresholdRule[] => {
    const entries = Object.entries(given);
    if (entries.length > metricsMax) context.addIssue(`at most ${metricsMax} metrics can have thresholds`);
    return entries.flatMap(([name, conditions]) => {
      const issue = (message: string, path: (string | number)[]) =>
        context.addIssue({ code: "custom", message, path });
      const metric = readMetric(name);
      if (typeof metric === "string") {
        issue(metric, [name]);
        return [];
      }
      return conditions.flatMap(({ threshold, abortOnFail, delayAbortEval }, index) => {
        const read = readCondition(threshold, metric.metric);
        if (typeof read === "string") {
          issue(read, [name, index]);
          return [];
        }
        const rule = { ...metric, ...read, abortOnFail, delayMs: delayAbortEval };
        return [{ ...rule, name: `${name} ${threshold.trim()}` }];
      });
    });
  });
