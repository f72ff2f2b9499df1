export type KeyDirectory = {
  /** Whether there is or was a key of this hash, as far as was heard. */
  has(hash: string): boolean;
  add(hash: string): void;
  /** Reads all of them again, because some may have come unheard. Never throws; what fails is tried again. */
  reload(): void;
  stop(): void;
};

const retryMs = 1000;

/**
 * The hashes of all keys, in memory. It only says which look-ups must never wait behind those of
 * strangers, so it may be out of date; what a key may do is in its record. A hundred thousand take about 12 MB.
 */
export function createKeyDirectory({
  eachHash,
}: {
  eachHash: (hear: (hash: string) => void) => Promise<void>;
}): KeyDirectory {
  let hashes = new Set<string>();
  let isLoading = false;
  let loadAgain = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function load(): Promise<void> {
    if (isStopped) return;
    loadAgain = isLoading;
    if (isLoading) return;
    isLoading = true;
    clearTimeout(timer);
    const read = new Set<string>();
    added = read;
    try {
      await eachHash((hash) => read.add(hash));
      hashes = read;
    } catch {
      timer = setTimeout(() => void load(), retryMs);
      timer.unref();
    } finally {
      added = undefined;
      isLoading = false;
    }
    if (loadAgain) void load();
  }

  // A key that changes while the others are read may have been passed already.
  let added: Set<string> | undefined;

  return {
    has: (hash) => hashes.has(hash),
    add(hash) {
      hashes.add(hash);
      added?.add(hash);
    },
    reload: () => void load(),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
