import type { Answer, Call } from "../call.ts";
import type { Asked } from "../memory/asking.ts";
import type { Memory, MemoryOptions, Source } from "../memory/memory.ts";
import type { OwnCall } from "../news/own-methods.ts";
import type { QaTrace } from "../qa-trace.ts";
import { type Refusal, refusal } from "../refusal.ts";
import type { StreamedAnswer, Unanswered } from "../upstream/validator-pool.ts";

export type Outcome = Answer | StreamedAnswer | Refusal;

type ForwardDependencies = {
  memory: Pick<Memory, "ask">;
  /** Waits until a number above the head is announced, for a moment. */
  reach: (number: number) => Promise<void>;
  options: MemoryOptions;
  /** For methods that no validator answers. */
  answerOurselves: (call: OwnCall) => Promise<Answer | Refusal>;
  trace: Pick<QaTrace, "note"> | undefined;
};

/**
 * Carries out each call that may pass, all of a batch at once: from memory, or by a validator. `done` gets the outcomes
 * in the calls' order when all are there; before this returns where memory had them.
 */
export function forward(
  calls: readonly Call[],
  deps: ForwardDependencies,
  done: (outcomes: readonly Outcome[]) => void,
): void {
  const outcomes: Outcome[] = calls.map(() => nobodyAnswered);
  let open = calls.length;
  for (const [index, call] of calls.entries()) {
    carryOut(call, index, deps, (asked) => {
      outcomes[index] = typeof asked === "string" ? notAnswered(asked, call) : asked;
      open -= 1;
      if (open === 0) done(outcomes);
    });
  }
}

function notAnswered(why: Unanswered, call: Call): Refusal {
  const isUnknown = why === "unavailable" && call.kind === "forward" && !call.rule.mayAskAgain;
  return isUnknown ? outcomeUnknown : nobodyAnswered;
}

function carryOut(
  call: Call,
  index: number,
  { memory, reach, options, answerOurselves, trace }: ForwardDependencies,
  settle: (asked: Asked | Answer | Refusal) => void,
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
  const isAboveHead = typeof about === "number" && options.head !== undefined && about > options.head.number;
  if (isAboveHead) reach(about).then(() => memory.ask(call, noting, settle));
  else memory.ask(call, noting, settle);
}

const nobodyAnswered = refusal("upstream_unavailable", "No validator answered in time; try again shortly");
const outcomeUnknown = refusal(
  "upstream_unavailable",
  "No validator answered in time. Whether the transaction arrived is not known: ask for it by its hash before sending another",
);
