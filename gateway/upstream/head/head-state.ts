import { createHeadAnnouncer, type ResumedHead } from "./announce-heads.ts";
import type { HeadLimits } from "./head-limits.ts";
import { createHeadReports } from "./head-reports.ts";
import type { HeadUpdate, Lookup, WaitingHead } from "./head-update.ts";
import { type Candidate, earlier, farCandidates, nearCandidates } from "./next-head.ts";
import { outsideOf } from "./outside-of.ts";
import { planLookups } from "./plan-lookups.ts";
import { createTrackedValidator, type TrackedValidator } from "./validator.ts";

type Tracked = { label: string; isReplica?: boolean | undefined };

/**
 * All that is known of the chain and of the validators' place on it, without clock, sockets or timers. Reports come in with
 * their time (monotonic milliseconds), and what follows from them comes out.
 */
export function createHeadState({
  tracked,
  chainId,
  genesisHash,
  limits,
  resume,
}: {
  tracked: readonly Tracked[];
  chainId: bigint;
  genesisHash: string | undefined;
  limits: HeadLimits;
  resume?: ResumedHead | undefined;
}) {
  const make = ({ label, isReplica }: Tracked) => createTrackedValidator(label, isReplica);
  const validators = new Map(tracked.map((one) => [one.label, make(one)]));
  const all = [...validators.values()];
  const voters = all.filter(({ isReplica }) => !isReplica);
  const announcer = createHeadAnnouncer({ validators, all, voters, chainId, genesisHash, limits, resume });
  const { chain, proof } = announcer;
  let candidates: readonly Candidate[] = [];

  function settle(nowMs: number, lookups: Lookup[] = []): HeadUpdate {
    const { events, lookAgainAtMs } = announcer.settle(nowMs);
    planLookups({ validators: all, head: chain.head(), lookups, limits, nowMs });
    return { events, lookups, lookAgainAtMs: earlier(lookAgainAtMs, noteOutside(nowMs)) };
  }

  function noteOutside(nowMs: number): number | undefined {
    const input = { chain, proof, validators: voters, nowMs };
    candidates = chain.head() === undefined ? [] : [...nearCandidates(input), ...farCandidates(input)];
    let lookAgain: number | undefined;
    for (const validator of all) {
      const { outside, lookAgainAtMs } = outsideOf({
        validator,
        validators: voters,
        candidates,
        limits,
        nowMs,
      });
      validator.outside = outside;
      lookAgain = earlier(lookAgain, lookAgainAtMs);
    }
    return lookAgain;
  }

  const ageMs = (nowMs: number) => nowMs - (announcer.announcedAtMs() ?? nowMs);

  return {
    ...createHeadReports({ validators, chain, settle }),
    settle,
    head: chain.head,
    genesisHash: announcer.genesisHash,
    validator: (label: string) => validators.get(label),
    /** Those that decide. */
    voters: (): readonly TrackedValidator[] => voters,
    /** Begins to track these, as ones that nothing is known of, and forgets those. */
    change({ added, removed }: { added: readonly Tracked[]; removed: readonly string[] }): void {
      for (const label of removed) {
        validators.delete(label);
        chain.forget(label);
      }
      for (const one of added) validators.set(one.label, make(one));
      all.splice(0, all.length, ...validators.values());
      voters.splice(0, voters.length, ...all.filter(({ isReplica }) => !isReplica));
    },
    isEligible(label: string): boolean {
      const validator = validators.get(label);
      const head = chain.head();
      if (validator === undefined || head === undefined || validator.failures >= limits.failuresMax)
        return false;
      if (validator.outside !== undefined) return false;
      // A validator that had the head still has it while its newest block is being linked.
      return validator.holds >= head.number;
    },
    /** Blocks that validators report and that wait for longer than blocks usually do. */
    waiting: (nowMs: number): WaitingHead[] =>
      candidates
        .filter(({ seenAtMs }) => nowMs >= seenAtMs + limits.followMs)
        .map(({ header: { number, hash }, having }) => ({ number, hash, having })),
    /** Time since a block was last announced, or since the start. It goes by the clock: silence is bad news. */
    ageMs,
    /** No block was announced for long, whether validators answer or not. */
    isStalled: (nowMs: number): boolean => ageMs(nowMs) >= limits.stalledAfterMs,
    /** How many validators have answered lately: an old answer is no proof. */
    answering: (nowMs: number): number =>
      all.filter(
        ({ failures, answeredAtMs }) =>
          failures < limits.failuresMax &&
          answeredAtMs !== undefined &&
          nowMs - answeredAtMs < limits.silentAfterMs,
      ).length,
  };
}
