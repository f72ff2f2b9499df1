import type { AskInTurn } from "./ask-in-turn.ts";
import type { PoolHead } from "./choose.ts";
import { isValue, type Verdict, verdictOf } from "./classify-response.ts";
import { lightLane, slowLane } from "./lanes.ts";
import { blockMustExist, saysUnknownBlock } from "./must-exist.ts";
import { isStreamed, type WholeAnswer } from "./pool-answer.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { Ask, AskOutcome } from "./upstream-call.ts";
import type { Member } from "./validator.ts";

/** A block that must exist and that one validator does not have is asked of so many others. */
const behindRetriesMax = 2;

/** JSON-RPC's "Internal error": https://www.jsonrpc.org/specification#error_object */
const internalErrorCode = -32603;

/** Their `null` may mean that only one validator knows of it yet. */
const asksAllBeforeNull = new Set(["eth_getTransactionByHash", "eth_getTransactionReceipt"]);

/**
 * "Nothing there" is checked with other validators, where something may be there or must be; so is an internal error, which Besu
 * answers to a read that meets the import of a block (eth_estimateGas, about one in a thousand under load).
 */
export function createDoubts({
  members,
  head,
  askInTurn,
  settings: { runMsMax },
  now,
}: {
  members: readonly Member[];
  head: PoolHead;
  askInTurn: AskInTurn;
  settings: Pick<PoolSettings, "runMsMax">;
  now: () => number;
}) {
  /** Whether the answer leaves no doubt: nearly all do. */
  function isSure(ask: Ask, verdict: Verdict): boolean {
    const { rule } = ask.plan;
    // A trace is put to one validator, whatever it says.
    if (rule.trace !== undefined) return true;
    if (isInternal(verdict)) return !mayBeRepeated(ask);
    if (asksAllBeforeNull.has(rule.name)) return verdict.kind !== "null";
    if (rule.block === undefined || !saysUnknownBlock(verdict)) return true;
    return !blockMustExist({ rule, paramsText: ask.paramsText, head: head.announced()?.number });
  }

  /**
   * An internal error may be what a call does to its validator: one that could cost it much, by its lane or by the time that it
   * took, and one that was lost with another validator before, is put to no other.
   */
  function mayBeRepeated({ plan: { lane }, losses, sentAtMs, target }: Ask): boolean {
    if (losses > 0 || target !== undefined || lane === slowLane) return false;
    return lane === lightLane || now() - sentAtMs < runMsMax;
  }

  function count(reason: "behind" | "internal_error", askedOf: number): void {
    const member = members[askedOf];
    if (member !== undefined) member.stats.failures[reason] += 1;
  }

  /** Asks one other, alone; where that one says so too, or says nothing, it is the answer. */
  function checkInternal(answer: WholeAnswer, ask: Ask, tell: (answer: AskOutcome) => void): void {
    count("internal_error", ask.askedOf);
    // As one that was lost once: if it ends the second validator, it is put to no third.
    const losses = ask.plan.lane === lightLane ? 0 : 1;
    const { plan, paramsText, deadlineMs, group } = ask;
    askInTurn(
      { plan, paramsText, deadlineMs, group, losses },
      {
        excluded: members[ask.askedOf]?.bit ?? 0,
        askedMax: 1,
        knows(other, askedOf) {
          const isSame = isInternal(verdictOf(other));
          if (isSame) count("internal_error", askedOf);
          return !isSame;
        },
        done: (other, unmet) => tell(other ?? (unmet === "lost" ? unmet : answer)),
      },
    );
  }

  /** Asks others; what the first said stays where they know no better. */
  function check(answer: WholeAnswer, ask: Ask, tell: (answer: WholeAnswer) => void): void {
    const isOfHash = asksAllBeforeNull.has(ask.plan.rule.name);
    if (isInternal(verdictOf(answer))) count("internal_error", ask.askedOf);
    else if (!isOfHash) count("behind", ask.askedOf);
    let said = answer;
    askInTurn(ask, {
      excluded: members[ask.askedOf]?.bit ?? 0,
      askedMax: isOfHash ? members.length : behindRetriesMax,
      knows(other, askedOf) {
        const verdict = verdictOf(other);
        if (isOfHash) {
          // That nobody knows it says more than that one could not look.
          if (verdict.kind === "null") said = other;
          return verdict.kind === "value";
        }
        const isBehind = saysUnknownBlock(verdict);
        if (isBehind) count("behind", askedOf);
        return !isBehind;
      },
      done: (other) => tell(other ?? said),
    });
  }

  /** Settles a call: at once where there is no doubt, as nearly always. */
  return function makeSure(outcome: AskOutcome, ask: Ask): void {
    const { tell = ignore } = ask;
    // Nothing is looked up and nothing is made for an answer that is a value.
    if (typeof outcome === "string" || isStreamed(outcome) || isValue(outcome)) tell(outcome);
    else {
      const verdict = verdictOf(outcome);
      if (isSure(ask, verdict)) tell(outcome);
      else if (isInternal(verdict) && !asksAllBeforeNull.has(ask.plan.rule.name)) {
        checkInternal(outcome, ask, tell);
      } else check(outcome, ask, tell);
    }
  };
}

function isInternal(verdict: Verdict): boolean {
  return verdict.kind === "error" && verdict.code === internalErrorCode;
}

function ignore(): void {}
