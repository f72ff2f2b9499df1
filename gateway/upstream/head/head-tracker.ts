import type { Logger } from "pino";
import { createFeeds, type FollowedValidator } from "./feeds.ts";
import { createHeadLimits, type HeadLimits } from "./head-limits.ts";
import { createHeadLog } from "./head-log.ts";
import { createHeadState } from "./head-state.ts";
import type { HeadUpdate, Lookup, WaitingHead } from "./head-update.ts";
import { createHeadPublisher, type Epoch, type Head, type NewHead } from "./publish-heads.ts";
import { readHeadStatus, type ValidatorHeadStatus } from "./read-head-status.ts";
import type { Header } from "./read-header.ts";
import { isOurs, type Outside, type TrackedValidator } from "./validator.ts";
import type { ValidatorFeed } from "./validator-feed.ts";
import { whyNoneCounts } from "./why-none-counts.ts";

export type HeadTracker = {
  /** The announced head; undefined until a validator of ours reports a block. It never falls within an epoch. */
  announced(): Head | undefined;
  /** The validator is of our chain, answers, and has the announced block. */
  isEligible(label: string): boolean;
  /** The validator's latest block, where it is of our chain. */
  heightOf(label: string): bigint | undefined;
  /** When the validator last closed the connection for its heads (monotonic): its process may have ended. */
  connectionLostAtMs(label: string): number | undefined;
  /** True once `number` is announced; false after `timeoutMs`, at the end of the epoch, and with too many waiting. */
  waitFor(number: bigint, timeoutMs: number): Promise<boolean>;
  /** A later block is known of: asks the validators for it now and not at their next turn. */
  lookSoon(): void;
  /** No block was announced for long, whether validators answer or not. */
  isStalled(): boolean;
  /** Milliseconds since a block was last announced, or since the start where none was. */
  headAgeMs(): number;
  /** How many validators have proved lately that they answer. */
  answering(): number;
  /** Validators that stand outside of what the others say, and blocks that wait because validators differ. */
  differences(): { outside: { label: string; outside: Outside }[]; waiting: WaitingHead[] };
  /** Why no validator counts; undefined where one does, or where it is too early to say. */
  whyNoneCounts(): string | undefined;
  epoch(): Epoch;
  /**
   * Calls the listener once for each announced block, in order, within an epoch without gaps except for `skipped`. It is
   * called where the block is announced, so it must not block. Returns the function that ends it.
   */
  onHead(listener: (head: NewHead) => void): () => void;
  /** Calls the listener when another chain begins, before its first head: nothing of the old chain is true any more. */
  onEpoch(listener: (reason: string) => void): () => void;
  status(): ValidatorHeadStatus[];
  /**
   * Follows these validators from now on. Those with the same label and address go on as they are; of others nothing is
   * known. The announced head and the epoch stay.
   */
  configure(validators: readonly FollowedValidator[]): void;
  stop(): Promise<void>;
};

export type HeadTrackerOptions = {
  validators: readonly FollowedValidator[];
  chainId: bigint;
  genesisHash?: string | undefined;
  blockTimeMs: number;
  logger: Pick<Logger, "info" | "warn" | "debug" | "error">;
  limits?: Partial<HeadLimits>;
  now?: () => number;
  monotonicMs?: () => number;
  random?: () => number;
  /** What another process that followed the same validators has announced last: this one goes on from there. */
  resume?: Announced | undefined;
  /** Called after each report of a validator, when all that follows from it is done. */
  onReport?: () => void;
};

/** The announced head, its epoch, and when it was announced (wall milliseconds). */
export type Announced = { head: Head; epoch: Epoch; announcedAt: number };

/**
 * The gateway's clock: follows the heads of all validators and announces one number for everybody. `chainId` and, where
 * it is configured, `genesisHash` say which validators count; otherwise the first genesis that a majority agrees on.
 * `wsUrl` is an address, `none`, or `auto` (the default): the same port, else the next one.
 */
export function createHeadTracker(options: HeadTrackerOptions): HeadTracker {
  const {
    chainId,
    genesisHash,
    blockTimeMs,
    logger,
    limits: changes = {},
    now = Date.now,
    monotonicMs = () => performance.now(),
    random = Math.random,
    resume,
    onReport = () => {},
  } = options;
  const limits = createHeadLimits({ blockTimeMs, changes });
  let { validators } = options;
  let labels = validators.map(({ label }) => label);
  const state = createHeadState({
    tracked: validators,
    chainId,
    genesisHash: genesisHash?.toLowerCase(),
    limits,
    resume:
      resume?.epoch.genesisHash === undefined
        ? undefined
        : {
            header: resume.head,
            genesisHash: resume.epoch.genesisHash,
            announcedAtMs: monotonicMs() - Math.max(0, now() - resume.announcedAt),
          },
  });
  const log = createHeadLog({ logger, failuresMax: limits.failuresMax });
  const publisher = createHeadPublisher({
    log,
    logger,
    limits,
    genesisHash: state.genesisHash,
    now,
    resume: state.head() === undefined ? undefined : resume,
  });
  const lastHeads = createLastHeads({ log, now });
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Carries out what follows from a report. */
  function follow({ events, lookups, lookAgainAtMs }: HeadUpdate): void {
    if (stopped) return;
    for (const event of events) publisher.publish(event);
    for (const label of labels) lastHeads.note(state.validator(label));
    log.stalled({
      isStalled: state.isStalled(monotonicMs()),
      number: publisher.head()?.number,
      answering: state.answering(monotonicMs()),
    });
    for (const lookup of lookups) void lookUp(lookup);
    onReport();
    clearTimeout(timer);
    if (lookAgainAtMs === undefined) return;
    // Rounded up: a timer may fire within the millisecond before its time.
    const delayMs = Math.min(Math.max(Math.ceil(lookAgainAtMs - monotonicMs()), 1), 60_000);
    timer = setTimeout(() => follow(state.settle(monotonicMs())), delayMs).unref();
  }

  function statusOf(label: string): ValidatorHeadStatus {
    return readHeadStatus({
      label,
      validator: state.validator(label),
      feed: feeds.get(label),
      announced: publisher.head()?.number,
      eligible: state.isEligible(label),
      lastHeadAt: lastHeads.atMs(label),
      nowMs: monotonicMs(),
    });
  }

  async function lookUp(lookup: Lookup): Promise<void> {
    const headers = await answerTo(lookup, feeds.get(lookup.label));
    if (headers === undefined || stopped) return;
    const nowMs = monotonicMs();
    follow(
      lookup.kind === "verify"
        ? state.verified(lookup.label, headers, nowMs)
        : state.filled(lookup.label, headers, nowMs),
    );
  }

  const feeds = createFeeds({
    limits,
    logger,
    monotonicMs,
    random,
    onProbe: (label, probe) => follow(state.probed(label, probe, monotonicMs())),
    onFailure: (label, failure) => follow(state.failed(label, failure, monotonicMs())),
    onHeader: (label, header) => follow(state.headed(label, header, monotonicMs())),
  });
  const urlsBeside = (validator: FollowedValidator) =>
    validators.filter(({ label }) => label !== validator.label).map(({ url }) => url);
  for (const validator of validators) feeds.follow(validator, urlsBeside(validator));

  function configure(next: readonly FollowedValidator[]): void {
    const isAmong = (list: readonly FollowedValidator[], { label, url, isReplica }: FollowedValidator) =>
      list.some((other) => other.label === label && other.url === url && other.isReplica === isReplica);
    const removed = validators.filter((validator) => !isAmong(next, validator));
    const added = next.filter((validator) => !isAmong(validators, validator));
    validators = next;
    labels = next.map(({ label }) => label);
    for (const { label } of removed) {
      feeds.unfollow(label);
      log.forget(label);
      lastHeads.forget(label);
    }
    state.change({ added, removed: removed.map(({ label }) => label) });
    for (const validator of added) feeds.follow(validator, urlsBeside(validator));
    follow(state.settle(monotonicMs()));
  }

  return {
    announced: publisher.head,
    isEligible: state.isEligible,
    heightOf: (label) => heightOf(state, label, labels),
    connectionLostAtMs: (label) => feeds.get(label)?.connectionLostAtMs(),
    waitFor: publisher.waitFor,
    lookSoon() {
      feeds.probeSoon();
    },
    isStalled: () => state.isStalled(monotonicMs()),
    headAgeMs: () => state.ageMs(monotonicMs()),
    answering: () => state.answering(monotonicMs()),
    differences: () => ({ outside: outsideOf(state, labels), waiting: state.waiting(monotonicMs()) }),
    whyNoneCounts: () => whyNoneCounts(state.voters()),
    epoch: publisher.epoch,
    onHead: publisher.onHead,
    onEpoch: publisher.onEpoch,
    status: () => labels.map(statusOf),
    configure,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      publisher.stop();
      await feeds.stop();
    },
  };
}

type State = Pick<ReturnType<typeof createHeadState>, "validator" | "isEligible">;

function heightOf(state: State, label: string, labels: readonly string[]): bigint | undefined {
  const validator = state.validator(label);
  if (validator === undefined || !isOurs(validator)) return undefined;
  // A validator that stands outside gets no calls at all, as long as another one does not.
  const isPassedOver = validator.outside !== undefined && labels.some(state.isEligible);
  return isPassedOver ? undefined : validator.tip?.header.number;
}

function outsideOf(state: State, labels: readonly string[]): { label: string; outside: Outside }[] {
  return labels.flatMap((label) => {
    const outside = state.validator(label)?.outside;
    return outside === undefined ? [] : [{ label, outside }];
  });
}

/** When each validator's latest block came, for people. */
function createLastHeads({ log, now }: { log: ReturnType<typeof createHeadLog>; now: () => number }) {
  const byLabel = new Map<string, { hash: string; atMs: number }>();
  return {
    note(validator: TrackedValidator | undefined): void {
      if (validator === undefined) return;
      log.validator(validator);
      const hash = validator.tip?.header.hash;
      if (hash !== undefined && byLabel.get(validator.label)?.hash !== hash)
        byLabel.set(validator.label, { hash, atMs: now() });
    },
    atMs: (label: string) => byLabel.get(label)?.atMs,
    forget: (label: string) => void byLabel.delete(label),
  };
}

/** The blocks that a lookup is for. A probe tells of itself. */
async function answerTo(lookup: Lookup, feed: ValidatorFeed | undefined): Promise<Header[] | undefined> {
  if (lookup.kind !== "probe")
    return feed?.fetchBlocks(lookup.kind === "verify" ? lookup.numbers : range(lookup.from, lookup.to));
  feed?.probeSoon();
  return undefined;
}

function range(from: bigint, to: bigint): bigint[] {
  const numbers: bigint[] = [];
  for (let number = from; number <= to; number += 1n) numbers.push(number);
  return numbers;
}
