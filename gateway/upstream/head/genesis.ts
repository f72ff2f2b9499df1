import type { HeadLimits } from "./head-limits.ts";
import type { Header } from "./read-header.ts";
import { answers, type TrackedValidator } from "./validator.ts";
import { voteGenesis } from "./vote-genesis.ts";

/** Which genesis block is the network's: the configured one, or the first that the validators agree on. */
export function createGenesis({
  validators,
  chainId,
  configuredHash,
  limits: { genesisWaitMs },
}: {
  validators: readonly TrackedValidator[];
  chainId: bigint;
  configuredHash: string | undefined;
  limits: Pick<HeadLimits, "genesisWaitMs">;
}) {
  let hash = configuredHash;
  let firstAnswerAtMs: number | undefined;

  return {
    hash: () => hash,
    is: (header: Header | undefined): header is Header => header !== undefined && header.hash === hash,
    /** Lets the validators vote while there is none. Returns the hash that they have just agreed on. */
    decide(nowMs: number): string | undefined {
      if (hash !== undefined) return undefined;
      if (firstAnswerAtMs === undefined) {
        if (!validators.some(answers)) return undefined;
        firstAnswerAtMs = nowMs;
      }
      const waitedMs = nowMs - firstAnswerAtMs;
      hash = voteGenesis({ validators, chainId, waitedMs, genesisWaitMs });
      return hash;
    },
    /** When the wait for further votes is over; undefined where it is over already. */
    undecidedUntilMs(nowMs: number): number | undefined {
      const dueAtMs = (firstAnswerAtMs ?? nowMs) + genesisWaitMs;
      return nowMs < dueAtMs ? dueAtMs : undefined;
    },
    /** Another chain has begun. */
    begin(newHash: string): void {
      hash = newHash;
    },
  };
}
