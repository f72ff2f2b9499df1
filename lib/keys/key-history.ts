/**
 * Tells whether the keys in Redis are still those that it held before. Redis may come back empty (FLUSHALL, a restart
 * without its files, an empty replica after a failover) or older (a restored backup), and still look healthy.
 */
export type KeyHistory = {
  /** Number of the last change; 0 if no key or team was ever made. */
  version: number;
  /** When this history began, in microseconds by Redis's clock; 0 where that is not written down. */
  begunAt: number;
  /** An operator has confirmed this history, whatever was there before it. */
  isConfirmed: boolean;
  /** Records of keys, revoked and expired ones included. */
  keys: number;
};

/**
 * How keys that were there went missing:
 * - `emptied`: there are none at all
 * - `begunAnew`: there were none, and others were made since. What is found was made after the loss, so it is good
 * - `older`: it is an earlier state. What is found may have been revoked since
 */
export type KeyLoss = "emptied" | "begunAnew" | "older";

/** How the keys in `known` are missing in `seen`, which was read later; `undefined` if they are not. */
function compare(known: KeyHistory | undefined, seen: Omit<KeyHistory, "keys">): KeyLoss | undefined {
  if (known === undefined || known.version === 0) return undefined;
  if (seen.version === 0) return "emptied";
  if (seen.begunAt === known.begunAt) return seen.version < known.version ? "older" : undefined;
  if (seen.begunAt < known.begunAt) return "older";
  return seen.isConfirmed ? undefined : "begunAnew";
}

/**
 * How keys are missing, by what a gateway knows itself and by what another one has recorded as lost. The record stays until
 * an operator confirms: changes to an older state raise its version, but do not make it the state that was lost.
 */
export function keyLoss({
  known,
  lost,
  seen,
}: {
  known: KeyHistory | undefined;
  lost: KeyHistory | undefined;
  seen: Omit<KeyHistory, "keys">;
}): KeyLoss | undefined {
  return compare(known, seen) ?? compare(lost, seen) ?? (lost === undefined ? undefined : "older");
}

/** Reads the values of `keyVersionKey` and `keyHistoryKey`. What cannot be read counts as not there. */
export function parseKeyHistory(version: unknown, history: unknown): Omit<KeyHistory, "keys"> {
  const [begunAt, confirmed] = typeof history === "string" ? history.split(" ") : [];
  return {
    version: toCount(version),
    begunAt: toCount(begunAt),
    isConfirmed: confirmed === "confirmed",
  };
}

/** The text of `keyLostKey`: what a gateway knew of before the keys went missing. */
export function keyHistoryToText({ version, begunAt, keys }: KeyHistory): string {
  return `${version} ${begunAt} ${keys}`;
}

export function parseLostKeys(text: unknown): KeyHistory | undefined {
  if (typeof text !== "string") return undefined;
  const [version, begunAt, keys] = text.split(" ").map(toCount);
  if (version === undefined || begunAt === undefined || keys === undefined) return undefined;
  return { version, begunAt, keys, isConfirmed: false };
}

function toCount(text: unknown): number {
  const value = typeof text === "string" ? Number(text) : 0;
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}
