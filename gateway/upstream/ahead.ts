import type { CallToForward } from "../call.ts";
import { shownBlock } from "../shown-block.ts";
import type { HeadTracker } from "./head/head-tracker.ts";
import { verdictOf } from "./pool/answer-verdict.ts";
import { saysUnknownBlock } from "./pool/must-exist.ts";
import { isStreamed, type WholeAnswer } from "./pool/pool-answer.ts";
import type { AskOptions, ValidatorPool } from "./validator-pool.ts";

type Asked = Awaited<ReturnType<ValidatorPool["ask"]>>;
type Options = AskOptions & { mayStream: boolean };

/** How long a question about a block above the head waits for its announcement. */
const reachMsMax = 500;
/** How long an answer that knows a later block waits for its announcement. */
const shownMsMax = 100;
/** Further above the head no number can be announced in that time: it is asked at once, as it is. */
const aheadBlocksMax = 16;

/** Questions and answers about blocks that are not announced yet. */
export function createAhead({
  head,
  pool,
}: {
  head: Pick<HeadTracker, "announced" | "waitFor" | "lookSoon">;
  pool: Pick<ValidatorPool, "ask">;
}) {
  function waitFor(number: bigint, timeoutMs: number): Promise<boolean> {
    head.lookSoon();
    return head.waitFor(number, timeoutMs);
  }

  return {
    /** Resolves when `number` is announced, or when waiting for it is over. */
    async reach(number: number): Promise<void> {
      const announced = head.announced()?.number;
      if (announced === undefined || number - Number(announced) > aheadBlocksMax) return;
      await waitFor(BigInt(number), reachMsMax);
    },

    /** Whether an answer to this call may know more than the head does, or less than the client. */
    concerns({ rule, about }: CallToForward): boolean {
      return rule.shows === undefined
        ? about === "fixed" && rule.block !== undefined
        : typeof about !== "number";
    },

    /** Holds such an answer back until its block is announced, or asks again for a hash that nobody knew. */
    async settle(asked: Promise<Asked>, call: CallToForward, options: Options): Promise<Asked> {
      let answer = await asked;
      const next = (head.announced()?.number ?? 0n) + 1n;
      if (isOfUnknownHash(answer, call) && (await waitFor(next, reachMsMax))) {
        answer = await pool.ask(call, options);
      }
      if (typeof answer === "string" || isStreamed(answer)) return answer;
      const shown = shownBlock(answer, call.rule);
      const announced = head.announced()?.number;
      if (shown !== undefined && announced !== undefined && shown > Number(announced)) {
        await waitFor(BigInt(shown), shownMsMax);
      }
      return answer;
    },
  };
}

/**
 * Nobody has the block with the hash that the call names: it may be above the head. A `null` says so only where the
 * result is the block itself; otherwise the block may be there without what was asked for.
 */
function isOfUnknownHash(answer: Asked, { rule, about }: CallToForward): answer is WholeAnswer {
  if (about !== "fixed" || rule.block === undefined) return false;
  if (typeof answer === "string" || isStreamed(answer)) return false;
  const verdict = verdictOf(answer);
  return saysUnknownBlock(verdict) && (verdict.kind === "error" || rule.shows === "number");
}
