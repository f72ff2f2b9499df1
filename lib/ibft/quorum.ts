/** How many of `validators` must seal a block: two thirds, rounded up (IBFT 2.0 and QBFT in Besu). */
export function quorumOf(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** How many of `validators` may be down at once before no block is made. */
export function downMax(validators: number): number {
  return validators - quorumOf(validators);
}

/**
 * How many of `validators` may lie, or be in the hands of somebody else, before two blocks of one height could be final
 * (https://besu.hyperledger.org/private-networks/concepts/poa#byzantine-fault-tolerance).
 */
export function faultyMax(validators: number): number {
  return Math.floor((validators - 1) / 3);
}

/**
 * The validators whose turns were missed in the rounds below `round`, when `proposer` proposed: those before it in ascending
 * order, which is the order of turns.
 */
export function missedTurns({
  validators,
  proposer,
  round,
}: {
  /** Ascending, as live headers have them. */
  validators: readonly string[];
  proposer: string;
  round: number;
}): string[] {
  const at = validators.indexOf(proposer);
  if (at === -1) return [];
  // After as many rounds as there are validators each has missed a turn. Further rounds come from a stalled chain.
  const missed = Math.min(round, validators.length);
  return Array.from(
    { length: missed },
    (_, back) => validators.at((at - back - 1) % validators.length) ?? [],
  ).flat();
}
