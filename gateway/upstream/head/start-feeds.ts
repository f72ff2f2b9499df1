import type { Logger } from "pino";
import type { HeadLimits } from "./head-limits.ts";
import type { Probe, ProbeFailure } from "./head-update.ts";
import type { Header } from "./read-header.ts";
import { createValidatorFeed, type ValidatorFeed } from "./validator-feed.ts";
import { wsAddresses } from "./ws-addresses.ts";

export type FollowedValidator = { label: string; url: string; wsUrl?: string | undefined };

/** Starts a feed for each validator, by its label. */
export function startFeeds({
  validators,
  limits,
  logger,
  monotonicMs,
  random,
  onProbe,
  onFailure,
  onHeader,
}: {
  validators: readonly FollowedValidator[];
  limits: HeadLimits;
  logger: Pick<Logger, "info" | "warn">;
  monotonicMs: () => number;
  random: () => number;
  onProbe: (label: string, probe: Probe) => void;
  onFailure: (label: string, failure: ProbeFailure) => void;
  onHeader: (label: string, header: Header) => void;
}): ReadonlyMap<string, ValidatorFeed> {
  const feeds = new Map<string, ValidatorFeed>();
  for (const { label, url, wsUrl = "auto" } of validators) {
    const urls = validators.filter((other) => other.label !== label).map((other) => other.url);
    const feed = createValidatorFeed({
      label,
      url,
      wsAddresses: wsAddresses({ url, wsUrl, urls }),
      limits,
      logger,
      monotonicMs,
      random,
      onProbe: (probe) => onProbe(label, probe),
      onFailure: (failure) => onFailure(label, failure),
      onHeader: (header) => onHeader(label, header),
    });
    feeds.set(label, feed);
  }
  return feeds;
}
