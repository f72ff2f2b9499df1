import type { AnswerBudget, AnswerHold } from "../answer-budget/answer-budget.ts";
import { boundRefusals } from "../answer-budget/bound-refusals.ts";
import { type Answer, ownAnswer } from "../json-rpc/answer.ts";
import { isRefusal, type Refusal } from "../json-rpc/refusal.ts";
import { travelsAs } from "../methods/block-parameter/block-range.ts";
import type { CallToForward } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import { isRecord } from "../upstream/head/read-header.ts";
import { usualBeforeId } from "../upstream/upstream-result.ts";
import { filterNotFound, nobodyAnswered } from "./filter-refusals.ts";
import type { FilterName, FilterStore } from "./filter-store.ts";
import type { AskLogs, createPoll } from "./poll.ts";

/** A poll that loses to a faster one begins again behind it, at most this often. */
const attemptsMax = 3;

/** Makes the function that answers `eth_getFilterChanges`: what is new, told once. */
export function createFilterChanges({
  store,
  poll,
  askLogs: ask,
  methods,
  answerBudget,
}: {
  store: Pick<FilterStore, "read" | "move" | "remove">;
  poll: ReturnType<typeof createPoll>;
  askLogs: (
    keyId: string,
    call: Pick<CallToForward, "rule" | "paramsText">,
  ) => Promise<Answer | Refusal | undefined>;
  methods: Pick<MethodTable, "rules">;
  answerBudget: Pick<AnswerBudget, "open">;
}) {
  /** Logs for a poll. They count until the cursor has moved; `hold` has to be released then. */
  function askLogsFor(keyId: string, hold: AnswerHold): AskLogs {
    return async (filter, blocksSpanned) => {
      const rule = methods.rules.get("eth_getLogs");
      if (rule === undefined) return undefined;
      const paramsText = JSON.stringify([filter]);
      const answer = await ask(keyId, { rule: travelsAs(rule, blocksSpanned), paramsText });
      if (answer === undefined || isRefusal(answer)) return answer;
      if (!isList(answer)) return undefined;
      const bound = hold.take(answer, answer.afterId.length);
      return bound === undefined ? answer : boundRefusals[bound];
    };
  }

  async function changes(name: FilterName): Promise<Answer | Refusal> {
    const hold = answerBudget.open(name.keyId);
    try {
      return await pollUntilTold(name, askLogsFor(name.keyId, hold));
    } finally {
      hold.release();
    }
  }

  async function pollUntilTold(name: FilterName, askLogs: AskLogs): Promise<Answer | Refusal> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const row = await store.read(name);
      if (row === undefined) return filterNotFound;
      const step = await poll(name, row, askLogs);
      if (step === "unanswered") return nobodyAnswered;
      if (step === "ended") {
        await store.remove(name);
        return filterNotFound;
      }
      if (isRefusal(step)) return step;
      const isTold =
        step.cursor === row.cursor || (await store.move(name, { before: row.cursor, next: step.cursor }));
      if (isTold) return step.answer;
    }
    // Another poll was faster each time, and has answered with what there was.
    return ownAnswer("[]");
  }

  return changes;
}

/** Whether a result is a list. In what validators write its first byte says so; anything else is parsed. */
function isList({ beforeId, afterId }: Answer): boolean {
  if (beforeId === usualBeforeId && afterId.startsWith(',"result":')) return afterId.charAt(10) === "[";
  const response: unknown = JSON.parse(Buffer.from(`${beforeId}0${afterId}`, "latin1").toString("utf8"));
  return isRecord(response) && Array.isArray(response["result"]);
}
