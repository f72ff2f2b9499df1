import type { Source } from "../cache/coalesce.ts";
import type { CallOutcome } from "./call-outcome.ts";

export type QaTrace = ReturnType<typeof createQaTrace>;

/**
 * Collects the headers for QA keys: where each answer comes from, and how long it took. They are lists (RFC 9651) in the
 * order of the calls, with `none` for a call that was sent nowhere, as one that is refused.
 */
export function createQaTrace({ monotonicMs }: { monotonicMs: () => number }) {
  const sources: Source[] = [];
  const startedMs = monotonicMs();
  let chargedMs = startedMs;

  return {
    /** The call at `index` is answered so. */
    note(index: number, source: Source): void {
      sources[index] = source;
    },
    /** The calls are charged: from now on they are carried out. */
    charged(): void {
      chargedMs = monotonicMs();
    },
    headers(outcomes: readonly CallOutcome[]): Record<string, string> {
      const answeredMs = monotonicMs();
      return {
        "X-Tollgate-Cache": outcomes.map((_outcome, index) => sources[index] ?? "none").join(", "),
        "X-Tollgate-Validator": outcomes.map(validatorOf).join(", "),
        "Server-Timing": `charge;dur=${milliseconds(chargedMs - startedMs)}, answer;dur=${milliseconds(answeredMs - chargedMs)}`,
      };
    },
  };
}

/** Its name, as in the metrics; never its address. */
function validatorOf(outcome: CallOutcome): string {
  return "validator" in outcome && typeof outcome.validator === "string" && outcome.validator !== ""
    ? outcome.validator
    : "none";
}

/** Server Timing: milliseconds, with fractions. */
function milliseconds(duration: number): string {
  return duration.toFixed(3);
}
