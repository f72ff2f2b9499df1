import type { CallToForward } from "../methods/call.ts";
import { shownBlock } from "../methods/shown-block.ts";
import type { HeadTracker } from "./head/head-tracker.ts";
import { classifyResponse } from "./pool/classify-response.ts";
import { saysUnknownBlock } from "./pool/must-exist.ts";
import {
  type CallOptions,
  isStreamed,
  type Settle,
  type UpstreamResult,
  type WholeAnswer,
} from "./upstream-result.ts";
import type { ValidatorPool } from "./validator-pool.ts";

/** How long a call about a block above the head waits for the block's announcement. */
const reachMsMax = 500;
/** How long an answer that knows a later block waits for the block's announcement. */
const shownMsMax = 100;
/** No number further above the head is announced in that time, so its call goes at once. */
const aheadBlocksMax = 16;

/** Holds calls and answers about blocks above the head until these are announced, for a moment. */
export function createHeadGate({
  head,
  pool,
}: {
  head: Pick<HeadTracker, "announced" | "waitFor" | "lookSoon">;
  pool: Pick<ValidatorPool, "submit">;
}) {
  function waitFor(number: bigint, timeoutMs: number): Promise<boolean> {
    head.lookSoon();
    return head.waitFor(number, timeoutMs);
  }

  /** Nearly all answers are about announced blocks. Only the others cost a promise. */
  function mustWait(answer: UpstreamResult, call: CallToForward): boolean {
    return isOfUnknownHash(answer, call) || isAbove(shownIn(answer, call));
  }

  function isAbove(shown: number | undefined): shown is number {
    const announced = head.announced()?.number;
    return shown !== undefined && announced !== undefined && shown > Number(announced);
  }

  async function hold(
    first: UpstreamResult,
    call: CallToForward,
    options: CallOptions,
  ): Promise<UpstreamResult> {
    let answer = first;
    const next = (head.announced()?.number ?? 0n) + 1n;
    if (isOfUnknownHash(answer, call) && (await waitFor(next, reachMsMax))) {
      answer = await new Promise<UpstreamResult>((resolve) => pool.submit(call, options, resolve));
    }
    const shown = shownIn(answer, call);
    if (isAbove(shown)) await waitFor(BigInt(shown), shownMsMax);
    return answer;
  }

  return {
    /** Resolves when `number` is announced, or when waiting for it is over. */
    async reach(number: number): Promise<void> {
      const announced = head.announced()?.number;
      if (announced === undefined || number - Number(announced) > aheadBlocksMax) return;
      await waitFor(BigInt(number), reachMsMax);
    },

    /** Whether an answer to this call may know a later block than the head, or an earlier one than the client. */
    concerns({ rule, about }: CallToForward): boolean {
      return rule.shows === undefined
        ? about === "fixed" && rule.block !== undefined
        : typeof about !== "number";
    },

    /** Submits such a call. Its answer waits until its block is announced; a hash that nobody knew is asked for again. */
    submit(call: CallToForward, options: CallOptions, settle: Settle): void {
      pool.submit(call, options, (answer) => {
        if (mustWait(answer, call)) void hold(answer, call, options).then(settle);
        else settle(answer);
      });
    },
  };
}

function shownIn(answer: UpstreamResult, { rule }: CallToForward): number | undefined {
  return typeof answer === "string" || isStreamed(answer) ? undefined : shownBlock(answer, rule);
}

/**
 * No validator has the block whose hash the call names: it may be above the head. A `null` says so only where the result is
 * the block itself. Otherwise the block may be there, without what the call asks for.
 */
function isOfUnknownHash(answer: UpstreamResult, { rule, about }: CallToForward): answer is WholeAnswer {
  if (about !== "fixed" || rule.block === undefined) return false;
  if (typeof answer === "string" || isStreamed(answer)) return false;
  const response = classifyResponse(answer);
  return saysUnknownBlock(response) && (response.kind === "error" || rule.shows === "number");
}
