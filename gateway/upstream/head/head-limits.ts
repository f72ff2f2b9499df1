export type HeadLimits = ReturnType<typeof createHeadLimits>;

/** Every wait, size and count of the head, each by its default unless `changes` says otherwise. */
export function createHeadLimits({
  blockTimeMs,
  changes = {},
}: {
  blockTimeMs: number;
  changes?: Partial<typeof fixedLimits & ReturnType<typeof limitsOf>>;
}) {
  return { ...fixedLimits, ...limitsOf(blockTimeMs), ...changes };
}

const fixedLimits = {
  /** How long a block that one validator has waits for a second one, where at most one other answers. */
  followMs: 500,
  /** The same where its seals prove it: time for a second one to have it, so that reads do not all go to the first. */
  provenFollowMs: 100,
  /** How long validators that all tell different first blocks are waited for. */
  firstWaitMs: 2000,
  /** Headers of one validator a second whose seals are looked at: 4 of 5 signatures each are recovered. */
  proofsPerSecondMax: 8,
  provenMax: 1024,
  /** Where fewer than half of the validators answer: how long the others are waited for before a genesis is taken. */
  genesisWaitMs: 2000,
  /** How long every reachable validator must be lower or differ before that is a new epoch. */
  epochConfirmMs: 1500,
  /** The same where a validator that had the head cannot be asked: it may come back with it. */
  epochGraceMs: 30_000,
  /** Blocks that are fetched one by one to close a gap; a validator further ahead is jumped to. */
  gapBlocksMax: 128,
  /** Announced numbers whose hash is remembered. */
  rememberedBlocks: 256,
  /** Headers above the head that are kept of a validator to link with. */
  aheadHeadersMax: 256,
  /** One validator alone this far ahead of all others is not believed. */
  jumpBlocksMax: 10_000,
  /** Pause between two attempts to close the same validator's gap. */
  fillPauseMs: 200,
  fillArrayLength: 16,
  /** Unanswered probes in a row after which a validator counts as gone. */
  failuresMax: 2,
  probeTimeoutMs: 2000,
  connectTimeoutMs: 1000,
  probeGapMinMs: 40,
  probeRetryMinMs: 100,
  answerBytesMax: 8 * 1024 * 1024,
  /** From the first byte of the handshake to the answer to `eth_subscribe`. */
  handshakeTimeoutMs: 2000,
  // A head with the hashes of all transactions that fit into 200 M gas; what one validator tells is kept until announced.
  messageBytesMax: 1024 * 1024,
  socketRetryMinMs: 250,
  socketRetryMaxMs: 5000,
  waitersMax: 10_000,
};

function limitsOf(blockTimeMs: number) {
  return {
    // Half a block's time; more than half a second would leave a reset of the chain unseen for long.
    probeIntervalMs: Math.min(Math.max(Math.ceil(blockTimeMs / 2), 100), 500),
    /** A WebSocket that brought no head for this long is not relied on. */
    socketSilentMs: 2 * blockTimeMs + 500,
    /** How long one is not asked that told another block than the one that was announced: it may tell the next, too. */
    distrustMs: Math.max(10_000, 5 * blockTimeMs),
    /** One without an answer for this long counts as silent, whatever it was last. */
    silentAfterMs: Math.max(4000, 2 * blockTimeMs),
    stalledAfterMs: Math.max(10_000, 5 * blockTimeMs),
  };
}
