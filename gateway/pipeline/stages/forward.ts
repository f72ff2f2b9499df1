import { type AnswerBudget, type AnswerHold, uncountedBytesMax } from "../../answer-budget/answer-budget.ts";
import { boundRefusals, unmetRefusals } from "../../answer-budget/bound-refusals.ts";
import type { Cache } from "../../cache/cache.ts";
import type { CacheOptions, Source } from "../../cache/coalesce.ts";
import type { Answer } from "../../json-rpc/answer.ts";
import { isRefusal, type Refusal, refusal } from "../../json-rpc/refusal.ts";
import type { Call } from "../../methods/call.ts";
import type { DeadlyCalls } from "../../traces/deadly-calls.ts";
import type { Unanswered, UpstreamResult } from "../../upstream/upstream-result.ts";
import type { CallOutcome } from "../call-outcome.ts";
import type { OwnCall } from "../own-methods.ts";
import type { QaTrace } from "../qa-trace.ts";
import type { CheckTraceGas } from "../trace-gas.ts";

type ForwardDependencies = {
  answerBudget: Pick<AnswerBudget, "open">;
  cache: Pick<Cache, "submit">;
  /** Waits a moment until a number above the head is announced. */
  reach: (number: number) => Promise<void>;
  options: CacheOptions;
  deadly: Pick<DeadlyCalls, "has" | "note">;
  checkTraceGas: CheckTraceGas;
  /** Why no validator can be asked; undefined where one can. */
  whyNoneCounts: () => string | undefined;
  /** Answers the methods that no validator answers. */
  answerOurselves: (call: OwnCall) => Promise<Answer | Refusal>;
  trace: Pick<QaTrace, "note"> | undefined;
};

/**
 * Carries out each call that may pass, all of a batch at once. `done` gets the outcomes in the calls' order when all are
 * there, which is before this returns if all are cached. Long answers are counted: `done` also gets what they hold of the
 * budgets, and has to release it. An answer that finds no room is refused by itself.
 *
 * The first step for each call is `carryOut` below.
 */
export function forward(
  calls: readonly Call[],
  deps: ForwardDependencies,
  done: (outcomes: readonly CallOutcome[], hold: AnswerHold | undefined) => void,
): void {
  const outcomes: CallOutcome[] = calls.map(() => nobodyAnswered);
  let open = calls.length;
  let bytes = 0;
  let hold: AnswerHold | undefined;
  for (const [index, call] of calls.entries()) {
    carryOut(call, index, deps, (asked) => {
      if (typeof asked === "string") outcomes[index] = notAnswered(asked, call, deps);
      else if (isRefusal(asked) || "start" in asked) outcomes[index] = asked;
      else {
        const { length } = asked.afterId;
        // The answers to nearly all bodies are short: for them this is all.
        bytes += length;
        if (bytes <= uncountedBytesMax) outcomes[index] = asked;
        else {
          hold ??= openHold(deps, bytes - length);
          const bound = hold.take(asked, length);
          outcomes[index] = bound === undefined ? asked : boundRefusals[bound];
        }
      }
      open -= 1;
      if (open === 0) done(outcomes, hold);
    });
  }
}

/** From here on a body's answers are counted, with what came before. */
function openHold({ answerBudget, options }: ForwardDependencies, bytes: number): AnswerHold {
  const hold = answerBudget.open(options.group);
  hold.add(bytes);
  return hold;
}

function notAnswered(why: Unanswered, call: Call, deps: ForwardDependencies): Refusal {
  const { deadly, options } = deps;
  if (why === "crowded" || why === "too_large" || why === "no_room") return unmetRefusals[why];
  if (why === "unavailable" || why === "unsent" || call.kind === "refused") {
    const isUnknown = why === "unavailable" && call.kind === "forward" && !call.rule.mayAskAgain;
    return isUnknown ? outcomeUnknown : whyNobodyAnswered(deps);
  }
  // Traces are noted in run-traces.ts, before their place is given back.
  const isNew = why === "lost" && call.rule.trace === undefined && !deadly.has(call);
  if (isNew) void deadly.note(call, { keyId: options.group, reason: why });
  return whyNotAnswered[why];
}

function whyNobodyAnswered({ whyNoneCounts }: Pick<ForwardDependencies, "whyNoneCounts">): Refusal {
  const none = whyNoneCounts();
  if (none === undefined) return nobodyAnswered;
  return refusal("upstream_unavailable", `No validator can be asked (${none}); try again shortly`);
}

function carryOut(
  call: Call,
  index: number,
  { cache, reach, options, answerOurselves, trace, deadly, checkTraceGas }: ForwardDependencies,
  settle: (asked: UpstreamResult | Answer | Refusal) => void,
): void {
  if (call.kind === "refused") {
    settle(call.refusal);
    return;
  }
  const { about, idText, rule } = call;
  if (rule.answeredBy !== "validator") {
    answerOurselves({ ...call, isNotification: idText === undefined }).then(settle);
    return;
  }
  const noting =
    trace === undefined ? options : { ...options, note: (source: Source) => trace.note(index, source) };
  if (rule.lane !== "light" && deadly.has(call)) {
    settle("deadly");
    return;
  }
  const isAboveHead = typeof about === "number" && options.head !== undefined && about > options.head.number;
  const ask = () => cache.submit(call, noting, settle);
  if (rule.trace !== undefined) {
    const reached = isAboveHead ? reach(about) : Promise.resolve();
    reached
      .then(() => checkTraceGas(call, options))
      .then((refused) => (refused === undefined ? ask() : settle(refused)));
  } else if (isAboveHead) reach(about).then(ask);
  else ask();
}

const whyNotAnswered: Readonly<
  Record<Exclude<Unanswered, keyof typeof unmetRefusals | "unavailable" | "unsent">, Refusal>
> = {
  lost: refusal(
    "call_lost",
    "The validator failed while it ran this call. No other validator is asked, and the same call is refused for a while",
  ),
  overdue: refusal(
    "call_lost",
    "The validator did not finish this call in time. No other validator is asked",
  ),
  deadly: refusal(
    "call_lost",
    "A validator failed while it ran this call, so the call is refused for a while: ask for less at once",
  ),
  struck: refusal(
    "traces_withheld",
    "Validators failed while they ran traces of this API key, so its traces are refused for a while",
  ),
  spared: refusal(
    "traces_withheld",
    "Too few validators are healthy for traces at the moment; other calls are answered",
  ),
  busy: refusal("traces_withheld", "Other traces are running; try again shortly"),
};
const nobodyAnswered = refusal("upstream_unavailable", "No validator answered in time; try again shortly");
const outcomeUnknown = refusal(
  "upstream_unavailable",
  "No validator answered in time. It is not known whether the transaction arrived: look for its hash before you send another",
);
