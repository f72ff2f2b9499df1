import { isValue, verdictOf } from "./answer-verdict.ts";
import { type Ask, type AskOutcome, createAsk } from "./ask.ts";
import type { PoolHead } from "./choose.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Member } from "./member.ts";
import { blockMustExist, saysUnknownBlock } from "./must-exist.ts";
import { isStreamed, type WholeAnswer } from "./pool-answer.ts";
import type { Sends } from "./sends.ts";

/** A block that must exist and that one validator does not have is asked of so many others. */
const behindRetriesMax = 2;

/** Their `null` may mean that only one validator knows of it yet. */
const asksAllBeforeNull = new Set(["eth_getTransactionByHash", "eth_getTransactionReceipt"]);

/** "Nothing there" is checked with other validators, where something may be there or must be. */
export function createDoubts({
  members,
  head,
  dispatcher,
  sends,
}: {
  members: readonly Member[];
  head: PoolHead;
  dispatcher: Pick<Dispatcher, "submit">;
  sends: Pick<Sends, "askAll">;
}) {
  async function askAllFirst(answer: WholeAnswer, { plan, paramsText, deadlineMs, askedOf }: Ask) {
    const call = { rule: plan.rule, paramsText, deadlineMs };
    return (await sends.askAll(call, members[askedOf]?.bit ?? 0)) ?? answer;
  }

  async function askWhoHasIt(answer: WholeAnswer, first: Ask): Promise<WholeAnswer> {
    let excluded = 0;
    let { askedOf } = first;
    for (let retry = 0; retry < behindRetriesMax; retry += 1) {
      const behind = members[askedOf];
      if (behind === undefined) return answer;
      behind.stats.failures.behind += 1;
      excluded |= behind.bit;
      const { outcome, ask } = await askAnother(first, excluded);
      if (outcome === "unavailable" || isStreamed(outcome)) return answer;
      if (!saysUnknownBlock(verdictOf(outcome))) return outcome;
      askedOf = ask.askedOf;
    }
    return answer;
  }

  /** Asks whoever is not excluded; nobody a second time. */
  function askAnother(
    { plan, paramsText, deadlineMs }: Ask,
    excluded: number,
  ): Promise<{ outcome: AskOutcome; ask: Ask }> {
    return new Promise((resolve) => {
      const ask = createAsk({
        plan,
        paramsText,
        deadlineMs,
        tried: excluded,
        settle: (outcome, settled) => resolve({ outcome, ask: settled }),
      });
      ask.isSecondRound = true;
      dispatcher.submit(ask);
    });
  }

  /** Undefined where there is no doubt. */
  function checked(outcome: WholeAnswer, ask: Ask): Promise<WholeAnswer> | undefined {
    const { rule } = ask.plan;
    const mayBeElsewhere = asksAllBeforeNull.has(rule.name);
    if (rule.block === undefined && !mayBeElsewhere) return undefined;
    const verdict = verdictOf(outcome);
    if (mayBeElsewhere) return verdict.kind === "null" ? askAllFirst(outcome, ask) : undefined;
    const number = head.announced()?.number;
    const isBehind =
      saysUnknownBlock(verdict) && blockMustExist({ rule, paramsText: ask.paramsText, head: number });
    return isBehind ? askWhoHasIt(outcome, ask) : undefined;
  }

  /** Settles a call: at once where there is no doubt, as nearly always. */
  return function makeSure(outcome: AskOutcome, ask: Ask): void {
    const { tell = ignore } = ask;
    // Nothing is looked up and nothing is made for an answer that is a value.
    const isSure = outcome === "unavailable" || isStreamed(outcome) || isValue(outcome);
    const checking = isSure ? undefined : checked(outcome, ask);
    if (checking === undefined) tell(outcome);
    else void checking.then(tell);
  };
}

function ignore(): void {}
