import type { HeadEvent } from "../../../../gateway/upstream/head/due-heads.ts";
import { createHeadLimits, type HeadLimits } from "../../../../gateway/upstream/head/head-limits.ts";
import { createHeadState } from "../../../../gateway/upstream/head/head-state.ts";
import type { HeadUpdate } from "../../../../gateway/upstream/head/head-update.ts";
import type { HeaderChain } from "./header-chain.ts";

export const chainId = 8845n;
/** A state that asked for every 150 ms of the longest time that a test lets pass would stay below. */
const looksMax = 1000;

/**
 * A head state with its own time and validators a, b, c … that say what a test has them say. What they are asked for is
 * answered from the chain they are on, at once.
 */
export function createHeadStateBench({
  count,
  genesisHash,
  limits = {},
  replicas = "",
}: {
  count: number;
  genesisHash?: string | undefined;
  limits?: Partial<HeadLimits>;
  /** The labels of those that seal no blocks. */
  replicas?: string;
}) {
  const labels = Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index));
  const state = createHeadState({
    tracked: labels.map((label) => ({ label, isReplica: replicas.includes(label) })),
    chainId,
    genesisHash,
    limits: createHeadLimits({ blockTimeMs: 2000, changes: limits }),
  });
  const on = new Map<string, { chain: HeaderChain; height: number }>();
  const events: HeadEvent[] = [];
  const asked: string[] = [];
  let nowMs = 1_000_000;
  let lookAgainAtMs: number | undefined;

  function take(outcome: HeadUpdate): void {
    events.push(...outcome.events);
    lookAgainAtMs = outcome.lookAgainAtMs;
    for (const want of outcome.lookups) {
      const at = on.get(want.label);
      asked.push(`${want.label} ${want.kind}`);
      if (at === undefined) continue;
      const has = (number: bigint) => number <= BigInt(at.height);
      if (want.kind === "probe") say(want.label, at.chain, at.height);
      else if (want.kind === "verify") {
        const headers = want.numbers.filter(has).map((number) => at.chain.block(Number(number)));
        take(state.verified(want.label, headers, nowMs));
      } else {
        const headers = [];
        for (let n = want.from; n <= want.to && has(n); n += 1n) headers.push(at.chain.block(Number(n)));
        take(state.filled(want.label, headers, nowMs));
      }
    }
  }

  /** The validator answers a probe: this chain, up to this height. */
  function say(label: string, chain: HeaderChain, height: number, chainIdSaid = chainId): void {
    on.set(label, { chain, height });
    const latest = chain.block(height);
    const probe = { chainId: chainIdSaid, genesis: chain.block(0), number: latest.number, latest };
    take(state.probed(label, { ...probe, sentAtMs: nowMs }, nowMs));
  }

  return {
    state,
    labels,
    events,
    /** What validators were asked for, as `label kind`. */
    asked,
    say,
    /** The validator's WebSocket brings a head. */
    head(label: string, chain: HeaderChain, height: number): void {
      on.set(label, { chain, height });
      take(state.headed(label, chain.block(height), nowMs));
    },
    /** The validator answers a probe with its number only, sent `agoMs` ago. */
    number(label: string, chain: HeaderChain, height: number, agoMs = 0): void {
      const probe = { chainId, genesis: chain.block(0), number: BigInt(height), latest: undefined };
      take(state.probed(label, { ...probe, sentAtMs: nowMs - agoMs }, nowMs));
    },
    fail(label: string): void {
      take(state.failed(label, { reason: "no answer in time", isUnreadable: false }, nowMs));
    },
    /** Time goes by; whenever the state asked to be looked at again it is. */
    pass(ms: number): void {
      const endMs = nowMs + ms;
      for (let looks = 0; lookAgainAtMs !== undefined && lookAgainAtMs <= endMs; looks += 1) {
        if (looks > looksMax) throw new Error("it asks to be looked at again and again");
        nowMs = Math.max(nowMs, lookAgainAtMs);
        take(state.settle(nowMs));
      }
      nowMs = endMs;
    },
    nowMs: () => nowMs,
    announced: () => state.head()?.number,
    /** Numbers announced so far, `epoch` where one began. */
    told: (): (number | "epoch")[] =>
      events.flatMap<number | "epoch">((event) => {
        if (event.kind === "genesis") return [];
        return event.kind === "epoch" ? ["epoch"] : [Number(event.header.number)];
      }),
    eligible: () => labels.filter((label) => state.isEligible(label)).join(""),
  };
}
