import type { Ahead, AnnouncedChain } from "./announced-chain.ts";
import { answers, isOurs, type Member } from "./member.ts";
import type { Header } from "./read-header.ts";

/** The block to announce now, or when to look again though nothing has happened. */
export type NextHead = { header: Header } | { header?: never; lookAgainAtMs: number | undefined };

/**
 * The rule of the announced head: a block is announced when a second validator has it, at once where nobody could
 * follow, and `followMs` after it was first told where nobody does.
 */
export function nextHead({
  chain,
  members,
  nowMs,
  firstTipAtMs,
  followMs,
}: {
  chain: AnnouncedChain;
  members: readonly Member[];
  nowMs: number;
  /** Since when a validator of ours has told a block while nothing was announced. */
  firstTipAtMs: number | undefined;
  followMs: number;
}): NextHead {
  if (chain.head() === undefined) return firstHead({ members, nowMs, firstTipAtMs, followMs });
  const far = farHead({ chain, members, nowMs, followMs });
  if (far.header !== undefined) return far;
  const near = nearHead({ chain, members, nowMs, followMs });
  if (near.header !== undefined) return near;
  return { lookAgainAtMs: earlier(near.lookAgainAtMs, far.lookAgainAtMs) };
}

export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

/**
 * The first block is the highest that there is, so that a gateway that was started anew does not begin below what it
 * announced before. Where validators differ the lower ones get their time to follow first.
 */
function firstHead({
  members,
  nowMs,
  firstTipAtMs,
  followMs,
}: {
  members: readonly Member[];
  nowMs: number;
  firstTipAtMs: number | undefined;
  followMs: number;
}): NextHead {
  if (firstTipAtMs === undefined) return { lookAgainAtMs: undefined };
  let highest: Header | undefined;
  let agree = members.every(({ probed }) => probed);
  for (const { tip, standing, failures } of members) {
    if (tip === undefined || standing.kind !== "ready" || failures > 0) continue;
    if (highest !== undefined && highest.hash !== tip.header.hash) agree = false;
    if (highest === undefined || tip.header.number > highest.number) highest = tip.header;
  }
  if (highest === undefined) return { lookAgainAtMs: undefined };
  const dueAtMs = firstTipAtMs + followMs;
  return agree || nowMs >= dueAtMs ? { header: highest } : { lookAgainAtMs: dueAtMs };
}

function nearHead({
  chain,
  members,
  nowMs,
  followMs,
}: {
  chain: AnnouncedChain;
  members: readonly Member[];
  nowMs: number;
  followMs: number;
}): NextHead {
  const candidates = new Map<string, { ahead: Ahead; having: number }>();
  for (const member of members) {
    const ahead = support(member) ? chain.nextTowards(member.tip.header) : undefined;
    if (ahead === undefined) continue;
    const candidate = candidates.get(ahead.header.hash);
    if (candidate === undefined) candidates.set(ahead.header.hash, { ahead, having: 1 });
    else candidate.having += 1;
  }
  let best: { ahead: Ahead; having: number } | undefined;
  for (const candidate of candidates.values()) {
    if (best === undefined || candidate.having > best.having) best = candidate;
  }
  if (best === undefined) return { lookAgainAtMs: undefined };
  const dueAtMs = best.ahead.seenAtMs + followMs;
  const isDue = best.having >= 2 || nowMs >= dueAtMs || countable(members) <= best.having;
  return isDue ? { header: best.ahead.header } : { lookAgainAtMs: dueAtMs };
}

/** A jump over more blocks than are fetched one by one: to what two validators have reached, by the same rule. */
function farHead({
  chain,
  members,
  nowMs,
  followMs,
}: {
  chain: AnnouncedChain;
  members: readonly Member[];
  nowMs: number;
  followMs: number;
}): NextHead {
  const far = members
    .filter(support)
    .filter(({ tip }) => chain.isFar(tip.header))
    .sort((one, other) => (one.tip.header.number > other.tip.header.number ? -1 : 1));
  const [highest, second] = far;
  if (second !== undefined) return { header: second.tip.header };
  if (highest === undefined) return { lookAgainAtMs: undefined };
  const dueAtMs = (highest.far?.sinceMs ?? nowMs) + followMs;
  const isDue = nowMs >= dueAtMs || countable(members) <= 1;
  return isDue ? { header: highest.tip.header } : { lookAgainAtMs: dueAtMs };
}

function support<M extends Member>(member: M): member is M & { tip: NonNullable<Member["tip"]> } {
  return member.standing.kind === "has" && member.tip !== undefined && answers(member);
}

/** Validators that have a new block or could follow to it. */
function countable(members: readonly Member[]): number {
  let count = 0;
  for (const member of members) {
    if (!member.probed || (answers(member) && isOurs(member) && member.standing.kind !== "diverged"))
      count += 1;
  }
  return count;
}
