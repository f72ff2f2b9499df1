import type { Answer, Call } from "../call.ts";
import type { Asked } from "../memory/entry.ts";
import type { Memory, MemoryOptions, Source } from "../memory/memory.ts";
import type { OwnCall } from "../own-methods.ts";
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
 * Carries out each call that may pass, all of a batch at once: from memory, or by a validator. The outcomes stand in the
 * calls' order.
 */
export async function forward(
  calls: readonly Call[],
  deps: ForwardDependencies,
): Promise<readonly Outcome[]> {
  const asked = calls.map((call, index) => carryOut(call, index, deps));
  // What memory answers is there at once: only where something is not, there is something to wait for.
  const known = asked.filter((one): one is Answered => !(one instanceof Promise));
  const answered = known.length === asked.length ? known : await Promise.all(asked);
  return answered.map((one, index) => (typeof one === "string" ? notAnswered(one, calls[index]) : one));
}

function notAnswered(why: Unanswered, call: Call | undefined): Refusal {
  const isUnknown = why === "unavailable" && call?.kind === "forward" && !call.rule.mayAskAgain;
  return isUnknown ? outcomeUnknown : nobodyAnswered;
}

type Answered = Asked | Answer | Refusal;

function carryOut(
  call: Call,
  index: number,
  { memory, reach, options, answerOurselves, trace }: ForwardDependencies,
): Answered | Promise<Answered> {
  if (call.kind === "refused") return call.refusal;
  const { about, idText, rule } = call;
  if (rule.answeredBy !== "validator") {
    return answerOurselves({ ...call, isNotification: idText === undefined });
  }
  const noting =
    trace === undefined ? options : { ...options, note: (source: Source) => trace.note(index, source) };
  const isAboveHead = typeof about === "number" && options.head !== undefined && about > options.head.number;
  return isAboveHead ? reach(about).then(() => memory.ask(call, noting)) : memory.ask(call, noting);
}

const nobodyAnswered = refusal("upstream_unavailable", "No validator answered in time; try again shortly");
const outcomeUnknown = refusal(
  "upstream_unavailable",
  "No validator answered in time. Whether the transaction arrived is not known: ask for it by its hash before sending another",
);
