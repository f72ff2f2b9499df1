import type { Logger } from "pino";
import type { HeadLimits } from "./head-limits.ts";
import type { Probe, ProbeFailure } from "./head-update.ts";
import type { Header } from "./read-header.ts";
import { createValidatorFeed, type ValidatorFeed } from "./validator-feed.ts";
import { wsAddresses } from "./ws-addresses.ts";

export type FollowedValidator = {
  label: string;
  url: string;
  wsUrl?: string | undefined;
  /** It seals no blocks: what the head is is decided without it. */
  isReplica?: boolean | undefined;
};

export type Feeds = ReturnType<typeof createFeeds>;

/** A feed for each validator, by its label. What one that was removed still tells counts no more. */
export function createFeeds({
  limits,
  logger,
  monotonicMs,
  random,
  onProbe,
  onFailure,
  onHeader,
}: {
  limits: HeadLimits;
  logger: Pick<Logger, "info" | "warn">;
  monotonicMs: () => number;
  random: () => number;
  onProbe: (label: string, probe: Probe) => void;
  onFailure: (label: string, failure: ProbeFailure) => void;
  onHeader: (label: string, header: Header) => void;
}) {
  const feeds = new Map<string, ValidatorFeed>();
  const stopping = new Set<Promise<void>>();

  return {
    get: (label: string): ValidatorFeed | undefined => feeds.get(label),
    /** Begins to follow a validator. `others` are the HTTP addresses of the other ones. */
    follow({ label, url, wsUrl = "auto" }: FollowedValidator, others: readonly string[]): void {
      const isCurrent = () => feeds.get(label) === feed;
      const feed = createValidatorFeed({
        label,
        url,
        wsAddresses: wsAddresses({ url, wsUrl, urls: others }),
        limits,
        logger,
        monotonicMs,
        random,
        onProbe: (probe) => isCurrent() && onProbe(label, probe),
        onFailure: (failure) => isCurrent() && onFailure(label, failure),
        onHeader: (header) => isCurrent() && onHeader(label, header),
      });
      feeds.set(label, feed);
    },
    unfollow(label: string): void {
      const feed = feeds.get(label);
      if (feed === undefined) return;
      feeds.delete(label);
      const stopped = feed.stop().finally(() => stopping.delete(stopped));
      stopping.add(stopped);
    },
    probeSoon(): void {
      for (const feed of feeds.values()) feed.probeSoon();
    },
    async stop(): Promise<void> {
      await Promise.all([...stopping, ...[...feeds.values()].map((feed) => feed.stop())]);
    },
  };
}
