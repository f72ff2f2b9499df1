import { firstHead, type NextHead, type NextHeadInput } from "./first-head.ts";
import type { Header } from "./read-header.ts";
import { answers, isOurs, type TrackedValidator } from "./validator.ts";

type CandidatesInput = Pick<NextHeadInput, "chain" | "proof" | "validators" | "nowMs">;

/** A block that could be announced next, and the validators that have it. */
export type Candidate = { header: Header; having: string[]; isProven: boolean; seenAtMs: number };

/**
 * The rule of the announced head. On a chain with seals, a proven block is announced as soon as a second validator has it, or
 * a moment later where none does; an unproven one needs more than half of all validators. On a chain without seals, a block
 * is announced when a second validator has it; a block of one validator waits while two others answer. Of several blocks at
 * one height the one with most validators is announced; a tie changes nothing.
 */
export function nextHead(input: NextHeadInput): NextHead {
  if (input.chain.head() === undefined) return firstHead(input);
  const far = decide(farCandidates(input), input, true);
  if (far.header !== undefined) return far;
  const near = decide(nearCandidates(input), input, false);
  if (near.header !== undefined) return near;
  return { lookAgainAtMs: earlier(near.lookAgainAtMs, far.lookAgainAtMs) };
}

export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

function decide(candidates: readonly Candidate[], input: NextHeadInput, isFar: boolean): NextHead {
  const [best, second] = candidates;
  if (best === undefined) return { lookAgainAtMs: undefined };
  const dueAtMs = input.proof.isSealed() ? sealedDueAt(best, input) : dueAt(best, second, input, isFar);
  if (dueAtMs === undefined) return { lookAgainAtMs: undefined };
  return input.nowMs >= dueAtMs ? { header: best.header } : { lookAgainAtMs: dueAtMs };
}

/** When the best candidate is to be announced; undefined while it waits for others. */
function sealedDueAt(best: Candidate, { validators, nowMs, limits }: NextHeadInput): number | undefined {
  if (!best.isProven) return best.having.length > validators.length / 2 ? nowMs : undefined;
  const having = best.having.length;
  return having >= 2 || countable(validators) <= having ? nowMs : best.seenAtMs + limits.provenFollowMs;
}

function dueAt(
  best: Candidate,
  second: Candidate | undefined,
  { validators, nowMs, limits }: NextHeadInput,
  isFar: boolean,
): number | undefined {
  const { seenAtMs } = best;
  const having = best.having.length;
  const answering = validators.filter((validator) => answers(validator) && isOurs(validator)).length;
  const others = answering - having;
  if (second !== undefined && !isFar) {
    if (having > answering / 2) return nowMs;
    return having >= 2 && having > second.having.length ? seenAtMs + limits.followMs : undefined;
  }
  if (having >= 2 || countable(validators) <= having) return nowMs;
  // A block of one validator may be a lie. So may a number far ahead that the only other validator does not confirm.
  return others >= (isFar ? 1 : 2) ? undefined : seenAtMs + limits.followMs;
}

/** The blocks that follow the head, the best first. */
export function nearCandidates({ chain, proof, validators, nowMs }: CandidatesInput): Candidate[] {
  const candidates = new Map<string, Candidate>();
  for (const { label, tip } of validators.filter(support)) {
    const way = chain.wayTo(label, tip.header);
    if (way === undefined) continue;
    const { header, seenAtMs } = way.child;
    const isProven =
      proof.judge(tip.header, label, nowMs) === "proven" && way.headers.every(proof.isAuthentic);
    add(candidates, { header, seenAtMs, isProven, having: [label] });
  }
  return [...candidates.values()].sort(byRank);
}

/** Candidates for a jump over more blocks than are fetched one by one: the tips of far validators, by the same rule. */
export function farCandidates({ chain, proof, validators, nowMs }: CandidatesInput): Candidate[] {
  const far = validators.filter(support).filter(({ tip }) => chain.isFar(tip.header));
  const candidates = new Map<string, Candidate>();
  for (const { label, tip, far: how } of far) {
    const { header } = tip;
    const isProven = proof.judge(header, label, nowMs) === "proven";
    add(candidates, { header, seenAtMs: how?.sinceMs ?? nowMs, isProven, having: [label] });
  }
  for (const candidate of candidates.values()) {
    const { hash, number } = candidate.header;
    // A validator further on has it too where a lookup says so, or where its tip is the block's child.
    for (const { label, tip, far: how } of far) {
      const isAbove = tip.header.number > number;
      if (isAbove && (tip.header.parentHash === hash || how?.also?.hash === hash))
        candidate.having.push(label);
    }
  }
  return [...candidates.values()].sort(byRank);
}

function add(candidates: Map<string, Candidate>, one: Candidate): void {
  const before = candidates.get(one.header.hash);
  if (before === undefined) {
    candidates.set(one.header.hash, one);
    return;
  }
  before.having.push(...one.having);
  before.seenAtMs = Math.min(before.seenAtMs, one.seenAtMs);
  // The hash is the same, but only a proven header is known to belong to the hash.
  if (one.isProven && !before.isProven) {
    before.header = one.header;
    before.isProven = true;
  }
}

function byRank(one: Candidate, other: Candidate): number {
  if (one.isProven !== other.isProven) return one.isProven ? -1 : 1;
  if (one.having.length !== other.having.length) return other.having.length - one.having.length;
  return Number(other.header.number - one.header.number);
}

function support<M extends TrackedValidator>(
  validator: M,
): validator is M & { tip: NonNullable<TrackedValidator["tip"]> } {
  return validator.standing.kind === "has" && validator.tip !== undefined && answers(validator);
}

/** How many validators have a new block or could follow to it. */
function countable(validators: readonly TrackedValidator[]): number {
  let count = 0;
  for (const validator of validators) {
    if (!validator.probed || (answers(validator) && isOurs(validator) && !isElsewhere(validator))) count += 1;
  }
  return count;
}

function isElsewhere({ standing }: TrackedValidator): boolean {
  return standing.kind === "diverged" || standing.kind === "forged";
}
