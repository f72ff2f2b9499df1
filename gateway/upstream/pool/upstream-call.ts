import type { ByteText } from "../../json-rpc/answer.ts";
import type { MethodRule } from "../../methods/method-table.ts";
import { type UpstreamResult, usualBeforeId, type WholeAnswer } from "../upstream-result.ts";
import type { GroupCount } from "./group-counts.ts";

export const laneNames = ["light", "call", "slow"] as const;

/** One call on its way to an answer. */
export type UpstreamCall = {
  readonly plan: MethodPlan;
  readonly paramsText: ByteText;
  /** The one validator that it is put to, once: who asks decides what comes next. Undefined: whichever is best. */
  readonly target: number | undefined;
  /** Whose call it is, for the bound on one key's calls. */
  readonly group: string | undefined;
  readonly mayStream: boolean;
  /** One function for all calls of a kind: what is of this call stands in `ask`, so that no closure is made for it. */
  readonly settle: (answer: UpstreamResult, call: UpstreamCall) => void;
  /** Who asked, where `settle` has to be told. */
  readonly deliver: ((answer: UpstreamResult) => void) | undefined;
  /** Monotonic. */
  readonly deadlineMs: number;
  settled: boolean;
  /** Where it counts against its group's bound, while it is on its way. */
  counted: GroupCount | undefined;
  /** Never in an array: because it must not, or because it may have spoiled one. */
  alone: boolean;
  /** How long an array may be that it is in: halved each time that one came to nothing, so that the culprit ends alone. */
  arrayMax: number;
  /** It was only asked in longer arrays yet: validators that were may be asked again. */
  mayRepeat: boolean;
  /** When it was last sent. Monotonic. */
  sentAtMs: number;
  /** Validators that were asked, a bit each. */
  tried: number;
  /** All validators failed once, and may be asked for a second time. */
  isSecondRound: boolean;
  /** It stands in its lane's `again`. */
  isWaiting: boolean;
  /** Requests in flight that it is in: two when it is hedged. */
  inFlight: number;
  /** Requests that ended, or went silent, without its answer: it may be what ended the validator. */
  losses: number;
  /** It waits for the end of this one, which was lost in the same array: only one of them may be asked at a time. */
  waitsFor: UpstreamCall | undefined;
  /** Bad answers that it got. From the third validator on they are its own fault, not the validator's. */
  badAnswers: number;
  /** What it is answered when no validator has anything better to say. */
  fallback: WholeAnswer | undefined;
  /** Set where its array came back as one error object, until it is known who is to blame. */
  refusal: ArrayRefusal | undefined;
  /** The validator whose answer was too long, until another says the same. -1: none. */
  tooLargeFrom: number;
  /** How often its answer found no room. */
  noRoom: number;
  /** Which validator gave the answer, or was the last to fail. */
  lastValidator: number;
  /** A validator may have carried it out. */
  mayHaveArrived: boolean;
};

/** An array that was refused whole. `left` calls of it are being asked again, each alone. */
export type ArrayRefusal = { validatorIndex: number; left: number; hasCulprit: boolean };

/** Of a call that spoiled no array. */
export const anyLength = 2 ** 30 - 1;

/** What is made once for a method: `prefixes[id]` is a request's text up to its parameters. */
export type MethodPlan = { readonly rule: MethodRule; readonly lane: number; readonly prefixes: string[] };

export type UpstreamCallOptions = Pick<UpstreamCall, "plan" | "paramsText" | "settle" | "deadlineMs"> &
  Partial<Pick<UpstreamCall, "target" | "group" | "mayStream" | "deliver" | "alone" | "tried">>;

/** Always all fields in the same order, so that every call has one shape to the engine. */
export function createUpstreamCall(request: UpstreamCallOptions): UpstreamCall {
  return {
    plan: request.plan,
    paramsText: request.paramsText,
    target: request.target,
    group: request.group,
    mayStream: request.mayStream ?? false,
    settle: request.settle,
    deliver: request.deliver,
    deadlineMs: request.deadlineMs,
    settled: false,
    counted: undefined,
    alone: request.alone ?? false,
    arrayMax: anyLength,
    mayRepeat: false,
    sentAtMs: -1,
    tried: request.tried ?? 0,
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

/** The plan of a method's calls. Rules are made once, at start, so they are remembered for good. */
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

/** The body for a validator: an object for one call, an array for several; ids are the places, from 1. */
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
