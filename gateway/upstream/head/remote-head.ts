import type { Logger } from "pino";
import { createHeadLimits } from "./head-limits.ts";
import type { Announced, HeadTracker } from "./head-tracker.ts";
import { createHeadPublisher } from "./publish-heads.ts";
import type { ValidatorHeadStatus } from "./read-head-status.ts";
import { type ChainNews, type HeadParts, readHeadParts, type Standing } from "./shared-head.ts";

/** The head as another process of this machine follows it. */
export type HeadSource = {
  /** Called in a later turn for what it told last, if it has, and for each that it tells from then on. */
  onParts(listener: (parts: unknown) => void): void;
  /** Asks it to look for a later block now. */
  lookSoon(): void;
};

/** As often as a validator is probed at most: more requests to look would change nothing. */
const lookGapMs = 40;

/**
 * A head tracker that asks no validator: it knows what the process that does tells it. While that one is away the announced
 * head and the validators' standing stay as they were last told. A part that cannot be read is left out and logged.
 */
export function createRemoteHead({
  source,
  blockTimeMs,
  logger,
  now = Date.now,
  monotonicMs = () => performance.now(),
}: {
  source: HeadSource;
  blockTimeMs: number;
  logger: Pick<Logger, "error">;
  now?: () => number;
  monotonicMs?: () => number;
}): HeadTracker {
  const limits = createHeadLimits({ blockTimeMs });
  let known = nothingKnown(now());
  let toldAtMs = monotonicMs();
  let epochNumber = 0;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let places = placesOf(known, toldAtMs);
  const publisher = createHeadPublisher({
    log: silent,
    logger,
    limits,
    genesisHash: () => known.epoch.genesisHash,
    now,
  });

  function take({ chain = [], standing }: HeadParts): void {
    known = standing;
    toldAtMs = monotonicMs();
    places = placesOf(known, toldAtMs);
    for (const news of chain) takeNews(news);
  }

  /** Where the process that follows the validators was replaced, two have told of the same blocks: each counts once. */
  function takeNews(news: ChainNews): void {
    const announced = publisher.head()?.number;
    if (news.kind === "epoch") {
      if (news.epoch <= epochNumber) return;
      epochNumber = news.epoch;
      publisher.publish(news);
    } else if (news.epoch >= epochNumber && (announced === undefined || news.head.number > announced)) {
      epochNumber = news.epoch;
      const skipped = announced === undefined ? 0n : news.head.number - announced - 1n;
      publisher.publish({ kind: "head", header: news.head, skipped });
    }
  }

  source.onParts((parts) => {
    const read = readHeadParts(parts);
    if (read === undefined) logger.error("what was told of the head cannot be read");
    else take(read);
  });
  const headAgeMs = () => known.headAgeMs + monotonicMs() - toldAtMs;

  return {
    announced: publisher.head,
    isEligible: (label) => places.get(label)?.status.eligible === true,
    heightOf: (label) => places.get(label)?.height,
    connectionLostAtMs: (label) => places.get(label)?.connectionLostAtMs,
    waitFor: publisher.waitFor,
    lookSoon() {
      if (monotonicMs() - lookedAtMs < lookGapMs) return;
      lookedAtMs = monotonicMs();
      source.lookSoon();
    },
    isStalled: () => headAgeMs() >= limits.stalledAfterMs,
    headAgeMs,
    answering: () => known.answering,
    differences: () => ({ outside: known.outside, waiting: known.waiting }),
    whyNoneCounts: () => known.whyNoneCounts,
    epoch: () => known.epoch,
    onHead: publisher.onHead,
    onEpoch: publisher.onEpoch,
    status: (): ValidatorHeadStatus[] => {
      const sinceMs = Math.round(monotonicMs() - toldAtMs);
      return known.validators.map(({ status }) => ({
        ...status,
        silentMs: status.silentMs === null ? null : status.silentMs + sinceMs,
      }));
    },
    // The process that follows the validators is told by itself.
    configure() {},
    async stop() {
      publisher.stop();
    },
  };
}

/** Where one that follows the validators from now on begins; undefined where no block was announced yet. */
export function resumeFrom(latest: unknown, now: () => number = Date.now): Announced | undefined {
  const parts = readHeadParts(latest);
  const last = parts?.chain?.at(-1);
  if (parts === undefined || last?.kind !== "head") return undefined;
  const { epoch, headAgeMs } = parts.standing;
  return { head: last.head, epoch, announcedAt: now() - headAgeMs };
}

function placesOf({ validators }: Standing, nowMs: number) {
  return new Map(
    validators.map(({ label, height, connectionLostAgoMs, status }) => [
      label,
      {
        height,
        status,
        connectionLostAtMs: connectionLostAgoMs === undefined ? undefined : nowMs - connectionLostAgoMs,
      },
    ]),
  );
}

function nothingKnown(startedAt: number): Standing {
  return {
    epoch: { number: 1, genesisHash: undefined, startedAt },
    headAgeMs: 0,
    answering: 0,
    outside: [],
    waiting: [],
    validators: [],
  };
}

/** The process that follows the validators logs it, once for all. */
const silent = { genesis() {}, head() {}, epoch() {} };
