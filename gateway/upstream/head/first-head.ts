import type { AnnouncedChain } from "./announced-chain.ts";
import type { HeadLimits } from "./head-limits.ts";
import type { HeaderProof } from "./header-proof.ts";
import type { Header } from "./read-header.ts";
import { answers, type TrackedValidator } from "./validator.ts";

/** The block to announce now, or when to look again though nothing happens. */
export type NextHead = { header: Header } | { header?: never; lookAgainAtMs: number | undefined };

export type NextHeadInput = {
  chain: AnnouncedChain;
  proof: HeaderProof;
  validators: readonly TrackedValidator[];
  nowMs: number;
  /** Since when a validator of our chain has reported a block while nothing is announced. */
  firstTipAtMs: number | undefined;
  limits: Pick<HeadLimits, "followMs" | "provenFollowMs" | "firstWaitMs">;
};

type Ready = TrackedValidator & { tip: NonNullable<TrackedValidator["tip"]> };

/**
 * The first head is the highest block that is proven or that two validators have. So a restarted gateway begins where it was,
 * and not where one validator says. Where validators differ, the lower ones first get time to follow. Of two validators the
 * higher one is believed.
 */
export function firstHead({ validators, proof, nowMs, firstTipAtMs, limits }: NextHeadInput): NextHead {
  const ready = validators.filter(isReady).sort(byNumber);
  const [highest, second] = ready;
  if (firstTipAtMs === undefined || highest === undefined) return { lookAgainAtMs: undefined };
  const agree = ready.every(({ tip }) => tip.header.hash === highest.tip.header.hash);
  const dueAtMs = firstTipAtMs + limits.followMs;
  if (nowMs < dueAtMs && !(agree && validators.every(({ probed }) => probed)))
    return { lookAgainAtMs: dueAtMs };
  const proven = ready.find(({ label, tip }) => proof.judge(tip.header, label, nowMs) === "proven");
  if (proven !== undefined) return { header: proven.tip.header };
  if (agree) return { header: highest.tip.header };
  if (ready.length === 2) return isTie(ready) ? { lookAgainAtMs: undefined } : { header: highest.tip.header };
  const agreed = ready.find((one) => isBacked(one, ready));
  if (agreed !== undefined) return { header: agreed.tip.header };
  const lastAtMs = firstTipAtMs + limits.firstWaitMs;
  if (nowMs < lastAtMs || second === undefined)
    return { lookAgainAtMs: nowMs < lastAtMs ? lastAtMs : undefined };
  // All differ, and at most one lies: so an honest validator has the second number or a higher one.
  return { header: second.tip.header };
}

/** Another validator has the same block or its child, and no other block of its height has as many validators. */
function isBacked(one: Ready, ready: readonly Ready[]): boolean {
  const backing = backersOf(one.tip.header, ready);
  return (
    backing >= 2 &&
    ready.every(
      ({ tip: { header } }) =>
        header.number !== one.tip.header.number ||
        header.hash === one.tip.header.hash ||
        backersOf(header, ready) < backing,
    )
  );
}

function backersOf({ hash }: Header, ready: readonly Ready[]): number {
  return ready.filter(({ tip: { header } }) => header.hash === hash || header.parentHash === hash).length;
}

function isTie([one, other]: readonly Ready[]): boolean {
  return one?.tip.header.number === other?.tip.header.number;
}

function isReady(validator: TrackedValidator): validator is Ready {
  return validator.tip !== undefined && validator.standing.kind === "ready" && answers(validator);
}

function byNumber(one: Ready, other: Ready): number {
  return Number(other.tip.header.number - one.tip.header.number);
}
