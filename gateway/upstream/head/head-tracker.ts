import type { Logger } from "pino";
import type { HeadEvent } from "./announce-heads.ts";
import { createHeadLimits, type HeadLimits } from "./head-limits.ts";
import { createHeadLog } from "./head-log.ts";
import { createHeadState, type HeadUpdate, type Lookup, type WaitingHead } from "./head-state.ts";
import { readHeadStatus, type ValidatorHeadStatus } from "./read-head-status.ts";
import type { Header } from "./read-header.ts";
import { isOurs, type Outside } from "./validator.ts";
import { createValidatorFeed, type ValidatorFeed } from "./validator-feed.ts";
import { createWaiters } from "./waiters.ts";
import { whyNoneCounts } from "./why-none-counts.ts";
import { wsAddresses } from "./ws-addresses.ts";

export type HeadTracker = {
  /** The announced head; undefined until a validator of ours has told a block. Never lower than before in an epoch. */
  announced(): Head | undefined;
  /** The result of `eth_blockNumber` as JSON text. */
  blockNumberAnswer(): string | undefined;
  /** It is of our chain, answers, and has the announced block. */
  isEligible(label: string): boolean;
  /** The latest block it told, where it is of our chain. */
  heightOf(label: string): bigint | undefined;
  /** When it last closed the connection that its head comes over (monotonic): its process may have ended. */
  connectionLostAtMs(label: string): number | undefined;
  /** True once `number` is announced; false after `timeoutMs`, at the end of the epoch, and with too many waiting. */
  waitFor(number: bigint, timeoutMs: number): Promise<boolean>;
  /** Somebody knows of a later block: the validators are asked for it now and not at their next turn. */
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
   * Tells each announced block once, in order, within an epoch without gaps but for `skipped`. Called at once where the
   * block is announced, so it must not block. Returns what ends it.
   */
  onHead(listener: (head: NewHead) => void): () => void;
  /** Tells that another chain begins, before its first head: what was remembered of the old one is wrong. */
  onEpoch(listener: (reason: string) => void): () => void;
  status(): ValidatorHeadStatus[];
  stop(): Promise<void>;
};

/** `block` is the block object as the validator wrote it to `newHeads` or with transaction hashes; read-only. */
export type Head = Header & { numberHex: string };
/** `skipped` counts blocks between the one told before and this one that were too many to fetch. */
export type NewHead = Head & { epoch: number; skipped: bigint };
/** `startedAt` in wall milliseconds; `genesisHash` undefined until it is decided. */
export type Epoch = { number: number; genesisHash: string | undefined; startedAt: number };

/**
 * The gateway's clock: follows the heads of all validators and announces one number for everybody. `chainId` and, where
 * it is configured, `genesisHash` say which validators count; otherwise the first genesis that a majority agrees on.
 * `wsUrl` is an address, `none`, or `auto` (the default): the same port, else the next one.
 */
export function createHeadTracker({
  validators,
  chainId,
  genesisHash,
  blockTimeMs,
  logger,
  limits: changes = {},
  now = Date.now,
  monotonicMs = () => performance.now(),
  random = Math.random,
}: {
  validators: readonly { label: string; url: string; wsUrl?: string | undefined }[];
  chainId: bigint;
  genesisHash?: string | undefined;
  blockTimeMs: number;
  logger: Pick<Logger, "info" | "warn" | "debug" | "error">;
  limits?: Partial<HeadLimits>;
  now?: () => number;
  monotonicMs?: () => number;
  random?: () => number;
}): HeadTracker {
  const limits = createHeadLimits({ blockTimeMs, changes });
  const labels = validators.map(({ label }) => label);
  const state = createHeadState({ labels, chainId, genesisHash: genesisHash?.toLowerCase(), limits });
  const log = createHeadLog({ logger, failuresMax: limits.failuresMax });
  const waiters = createWaiters(limits);
  const headListeners = new Set<(head: NewHead) => void>();
  const epochListeners = new Set<(reason: string) => void>();
  const lastHeadAt = new Map<string, { hash: string; atMs: number }>();
  let head: Head | undefined;
  let epochNumber = 1;
  let epochStartedAt = now();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function follow({ events, lookups, lookAgainAtMs }: HeadUpdate): void {
    if (stopped) return;
    for (const event of events) tell(event);
    for (const label of labels) note(label);
    log.stalled({
      isStalled: state.isStalled(monotonicMs()),
      number: head?.number,
      answering: state.answering(monotonicMs()),
    });
    for (const lookup of lookups) void ask(lookup);
    clearTimeout(timer);
    if (lookAgainAtMs === undefined) return;
    // Rounded up: a timer may fire within the millisecond before its time.
    const delayMs = Math.min(Math.max(Math.ceil(lookAgainAtMs - monotonicMs()), 1), 60_000);
    timer = setTimeout(() => follow(state.settle(monotonicMs())), delayMs).unref();
  }

  function tell(event: HeadEvent): void {
    if (event.kind === "genesis") {
      log.genesis(event.hash);
      return;
    }
    if (event.kind === "epoch") {
      epochNumber += 1;
      epochStartedAt = now();
      log.epoch({
        reason: event.reason,
        epoch: epochNumber,
        genesisHash: state.genesisHash(),
        last: head?.number,
      });
      head = undefined;
      waiters.dismiss();
      for (const listener of epochListeners) guard(() => listener(event.reason));
      return;
    }
    const { header, skipped } = event;
    log.head({ header, skipped, isFirst: head === undefined });
    const announced: Head = { ...header, numberHex: `0x${header.number.toString(16)}` };
    head = announced;
    for (const listener of headListeners)
      guard(() => listener({ ...announced, epoch: epochNumber, skipped }));
    waiters.announced(header.number);
  }

  /** One listener's fault is not another's. */
  function guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      logger.error({ err: error }, "a listener to heads failed");
    }
  }

  function note(label: string): void {
    const validator = state.validator(label);
    if (validator === undefined) return;
    log.validator(validator);
    const hash = validator.tip?.header.hash;
    if (hash !== undefined && lastHeadAt.get(label)?.hash !== hash)
      lastHeadAt.set(label, { hash, atMs: now() });
  }

  async function ask(lookup: Lookup): Promise<void> {
    const feed = feeds.get(lookup.label);
    if (feed === undefined) return;
    if (lookup.kind === "probe") return feed.probeSoon();
    const numbers = lookup.kind === "verify" ? lookup.numbers : range(lookup.from, lookup.to);
    const headers = await feed.fetchBlocks(numbers);
    if (headers === undefined || stopped) return;
    const nowMs = monotonicMs();
    follow(
      lookup.kind === "verify"
        ? state.verified(lookup.label, headers, nowMs)
        : state.filled(lookup.label, headers, nowMs),
    );
  }

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
      onProbe: (probe) => follow(state.probed(label, probe, monotonicMs())),
      onFailure: (failure) => follow(state.failed(label, failure, monotonicMs())),
      onHeader: (header) => follow(state.headed(label, header, monotonicMs())),
    });
    feeds.set(label, feed);
  }

  return {
    announced: () => head,
    blockNumberAnswer: () => (head === undefined ? undefined : `"${head.numberHex}"`),
    isEligible: state.isEligible,
    heightOf(label) {
      const validator = state.validator(label);
      if (validator === undefined || !isOurs(validator)) return undefined;
      // Who stands outside is not asked at all, as long as there is one that does not.
      const isPassedOver = validator.outside !== undefined && labels.some(state.isEligible);
      return isPassedOver ? undefined : validator.tip?.header.number;
    },
    connectionLostAtMs: (label) => feeds.get(label)?.connectionLostAtMs(),
    waitFor: (number, timeoutMs) =>
      head !== undefined && head.number >= number
        ? Promise.resolve(true)
        : waiters.wait(number, stopped ? 0 : timeoutMs),
    lookSoon() {
      for (const feed of feeds.values()) feed.probeSoon();
    },
    isStalled: () => state.isStalled(monotonicMs()),
    headAgeMs: () => state.ageMs(monotonicMs()),
    answering: () => state.answering(monotonicMs()),
    differences: () => ({
      outside: labels.flatMap((label) => {
        const outside = state.validator(label)?.outside;
        return outside === undefined ? [] : [{ label, outside }];
      }),
      waiting: state.waiting(monotonicMs()),
    }),
    whyNoneCounts: () => whyNoneCounts(labels.flatMap((label) => state.validator(label) ?? [])),
    epoch: () => ({ number: epochNumber, genesisHash: state.genesisHash(), startedAt: epochStartedAt }),
    onHead(listener) {
      headListeners.add(listener);
      return () => headListeners.delete(listener);
    },
    onEpoch(listener) {
      epochListeners.add(listener);
      return () => epochListeners.delete(listener);
    },
    status: () =>
      labels.map((label) =>
        readHeadStatus({
          label,
          validator: state.validator(label),
          feed: feeds.get(label),
          announced: head?.number,
          eligible: state.isEligible(label),
          lastHeadAt: lastHeadAt.get(label)?.atMs,
          nowMs: monotonicMs(),
        }),
      ),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      waiters.dismiss();
      await Promise.all([...feeds.values()].map((feed) => feed.stop()));
    },
  };
}

function range(from: bigint, to: bigint): bigint[] {
  const numbers: bigint[] = [];
  for (let number = from; number <= to; number += 1n) numbers.push(number);
  return numbers;
}
