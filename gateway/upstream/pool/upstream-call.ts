import type { ByteText } from "../../json-rpc/answer.ts";
import type { MethodRule } from "../../methods/method-table.ts";
import { type UpstreamResult, usualBeforeId, type WholeAnswer } from "../upstream-result.ts";
import type { GroupCount } from "./group-counts.ts";

export const laneNames = ["light", "call", "slow"] as const;

/** One call on its way to a validator's answer. */
export type UpstreamCall = {
  readonly plan: MethodPlan;
  readonly paramsText: ByteText;
  /** Index of the one validator that gets the call, once: the caller decides what comes next. Undefined: any validator. */
  readonly target: number | undefined;
  /** Whose call it is, for the bound on the calls of one key. */
  readonly group: string | undefined;
  readonly mayStream: boolean;
  /** One function for all calls of a kind. It finds what belongs to this call in its second argument and needs no closure. */
  readonly settle: (result: UpstreamResult, call: UpstreamCall) => void;
  /** The caller's own callback, for a `settle` that needs one. */
  readonly deliver: ((result: UpstreamResult) => void) | undefined;
  /** Monotonic. */
  readonly deadlineMs: number;
  settled: boolean;
  /** The count of its key, which it raises while it is on its way. */
  counted: GroupCount | undefined;
  /** The call never shares an array: because it must not, or because it may have spoiled one. */
  alone: boolean;
  /** Longest array for the call. It is halved each time such an array fails, until the culprit stands alone. */
  arrayMax: number;
  /** The call was only sent in longer arrays so far, so validators that got it may get it again. */
  mayRepeat: boolean;
  /** When it was last sent. Monotonic. */
  sentAtMs: number;
  /** Validators that got it, a bit each. */
  tried: number;
  /** All validators failed once and may be tried a second time. */
  isSecondRound: boolean;
  /** It waits in its lane's `again`. */
  isWaiting: boolean;
  /** Requests in flight that hold it: two while it is hedged. */
  inFlight: number;
  /** Requests that ended, or went silent, without its answer: the call may be what ends validators. */
  losses: number;
  /** A call that was lost in the same array and goes first: only one of them is on its way at a time. */
  waitsFor: UpstreamCall | undefined;
  /** Bad answers so far. From the third validator on they count as the call's fault, not the validator's. */
  badAnswers: number;
  /** The answer where no validator has a better one. */
  fallback: WholeAnswer | undefined;
  /** Set while it is open who is to blame for a refused array. */
  refusal: ArrayRefusal | undefined;
  /** Index of the validator whose answer was too long, until another one confirms that. -1: none. */
  tooLargeFrom: number;
  /** How often its answer found no room. */
  noRoom: number;
  /** Index of the validator that answered, or failed last. */
  lastValidator: number;
  /** A validator may have carried the call out. */
  mayHaveArrived: boolean;
};

/** An array that a validator refused as a whole. `left` of its calls are open: each of them is retried alone. */
export type ArrayRefusal = { validatorIndex: number; left: number; hasCulprit: boolean };

/** `arrayMax` of a call that has spoiled no array. */
export const anyLength = 2 ** 30 - 1;

/** What is made once for each method. `prefixes[id]` is the text of a request up to its parameters. */
export type MethodPlan = { readonly rule: MethodRule; readonly lane: number; readonly prefixes: string[] };

export type UpstreamCallOptions = Pick<UpstreamCall, "plan" | "paramsText" | "settle" | "deadlineMs"> &
  Partial<Pick<UpstreamCall, "target" | "group" | "mayStream" | "deliver" | "alone" | "tried">>;

/** Sets all fields in the same order, so that the engine sees one shape for all calls. */
export function createUpstreamCall(options: UpstreamCallOptions): UpstreamCall {
  return {
    plan: options.plan,
    paramsText: options.paramsText,
    target: options.target,
    group: options.group,
    mayStream: options.mayStream ?? false,
    settle: options.settle,
    deliver: options.deliver,
    deadlineMs: options.deadlineMs,
    settled: false,
    counted: undefined,
    alone: options.alone ?? false,
    arrayMax: anyLength,
    mayRepeat: false,
    sentAtMs: -1,
    tried: options.tried ?? 0,
    isSecondRound: false,
    isWaiting: false,
    inFlight: 0,
    losses: 0,
    waitsFor: undefined,
    badAnswers: 0,
    fallback: undefined,
    refusal: undefined,
    tooLargeFrom: -1,
    noRoom: 0,
    lastValidator: -1,
    mayHaveArrived: false,
  };
}

/** Makes the plan of each method once. Rules are made at the start and live as long as the process. */
export function createPlans() {
  const plans = new Map<MethodRule, MethodPlan>();
  return function planOf(rule: MethodRule): MethodPlan {
    const known = plans.get(rule);
    if (known !== undefined) return known;
    const plan: MethodPlan = { rule, lane: laneNames.indexOf(rule.lane), prefixes: [] };
    plans.set(rule, plan);
    return plan;
  };
}

/** The body of a request: an object for one call, an array for several. Ids are the places, from 1. */
export function composeBody(calls: readonly UpstreamCall[]): ByteText {
  const [first] = calls;
  if (calls.length === 1 && first !== undefined) return itemText(first, 1);
  let text = "[";
  for (let index = 0; index < calls.length; index += 1) {
    const call = calls[index];
    if (call !== undefined) text += (index === 0 ? "" : ",") + itemText(call, index + 1);
  }
  return `${text}]`;
}

function itemText({ plan, paramsText }: UpstreamCall, id: number): string {
  const prefix = plan.prefixes[id] ?? addPrefix(plan, id);
  return `${prefix}${paramsText}}`;
}

function addPrefix({ rule, prefixes }: MethodPlan, id: number): string {
  for (let next = prefixes.length; next <= id; next += 1) {
    prefixes.push(`${usualBeforeId}${next},"method":"${rule.name}","params":`);
  }
  return prefixes[id] ?? "";
}
