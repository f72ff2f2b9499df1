import type { AnnouncedChain } from "./announced-chain.ts";
import type { HeadLimits } from "./head-limits.ts";
import type { HeaderProof } from "./header-proof.ts";
import { nextHead } from "./next-head.ts";
import type { Header } from "./read-header.ts";
import type { TrackedValidator } from "./validator.ts";

/** What happens to the chain, in the order in which listeners hear of it. */
export type HeadEvent =
  | { kind: "genesis"; hash: string }
  | { kind: "head"; header: Header; skipped: bigint }
  | { kind: "epoch"; reason: string };

/** Announces the blocks that are due, and distrusts the validators that reported others. */
export function createDueHeads({
  chain,
  proof,
  validators,
  all,
  limits,
  placeAll,
  learnGenesis,
  announcedAtMs: resumedAtMs,
}: {
  chain: AnnouncedChain;
  proof: HeaderProof;
  validators: ReadonlyMap<string, TrackedValidator>;
  all: readonly TrackedValidator[];
  limits: HeadLimits;
  /** Compares the validators with the announced block again. */
  placeAll: (nowMs: number) => void;
  /** Learns the first sealers, where the genesis block is known. */
  learnGenesis: (nowMs: number) => void;
  /** When another process has announced a block, before this one began. */
  announcedAtMs?: number | undefined;
}) {
  let firstTipAtMs: number | undefined;
  let announcedAtMs = resumedAtMs;

  /** Validators that reported another block than the announced one. */
  function distrust(labels: readonly string[], number: bigint, nowMs: number): void {
    for (const label of labels) {
      const validator = validators.get(label);
      if (validator !== undefined) validator.contradicted = { number, untilMs: nowMs + limits.distrustMs };
    }
  }

  return {
    /** When a block was last announced; before the first one, when this began. */
    announcedAtMs: () => announcedAtMs,
    /** Another chain has begun: its validators have reported their blocks since then. */
    begin(sinceMs: number): void {
      firstTipAtMs = sinceMs;
    },
    /** Announces each block that is due. Returns when the next one may be due. */
    announce(nowMs: number, events: HeadEvent[]): number | undefined {
      announcedAtMs ??= nowMs;
      if (chain.head() === undefined) {
        if (all.some(({ standing }) => standing.kind === "ready")) firstTipAtMs ??= nowMs;
        if (!proof.isSealed()) learnGenesis(nowMs);
      }
      for (;;) {
        const next = nextHead({ chain, proof, validators: all, nowMs, firstTipAtMs, limits });
        if (next.header === undefined) return next.lookAgainAtMs;
        distrust(chain.contradictedBy(next.header), next.header.number, nowMs);
        events.push({ kind: "head", header: next.header, skipped: chain.advance(next.header) });
        proof.announced(next.header);
        announcedAtMs = nowMs;
        placeAll(nowMs);
      }
    },
  };
}
