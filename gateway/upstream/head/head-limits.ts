export type HeadLimits = ReturnType<typeof createHeadLimits>;

/** Every wait, size and count of the head. `changes` replaces defaults. */
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
  /** How long a block that one validator has waits for a second one, where at most one other validator answers. */
  followMs: 500,
  /** The same for a block that its seals prove: time for a second validator, so that not all reads go to the first. */
  provenFollowMs: 100,
  /** How long the first head waits while all validators report different blocks. */
  firstWaitMs: 2000,
  /** Headers of one validator a second whose seals are judged: each costs 4 of 5 recovered signatures. */
  proofsPerSecondMax: 8,
  provenMax: 1024,
  /** How long a genesis waits for the other validators, where fewer than half of them answer. */
  genesisWaitMs: 2000,
  /** How long every reachable validator must be lower or differ before a new epoch begins. */
  epochConfirmMs: 1500,
  /** The same where a validator that had the head does not answer: it may come back with it. */
  epochGraceMs: 30_000,
  /** Blocks that are fetched one by one to close a gap. To a validator further ahead the head jumps. */
  gapBlocksMax: 128,
  /** How many announced hashes are remembered. */
  rememberedBlocks: 256,
  /** Headers above the head that are kept for each validator, to link its blocks. */
  aheadHeadersMax: 256,
  /** A lone validator so far ahead of all others is not believed. */
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
  // A head with the hashes of all transactions that fit into 200 M gas. Heads are kept until they are announced.
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
    /** How long a validator gets no calls after it reported another block than the announced one: it may do so again. */
    distrustMs: Math.max(10_000, 5 * blockTimeMs),
    /** A validator without an answer for so long counts as silent. */
    silentAfterMs: Math.max(4000, 2 * blockTimeMs),
    stalledAfterMs: Math.max(10_000, 5 * blockTimeMs),
  };
}
