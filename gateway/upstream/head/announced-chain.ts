import type { Header } from "./read-header.ts";

export type AnnouncedChain = ReturnType<typeof createAnnouncedChain>;

/** How a validator's latest block stands to the announced one. */
export type Placement =
  | { kind: "nothing_announced" }
  | { kind: "has" }
  | { kind: "behind" }
  | { kind: "diverged"; at: bigint }
  | { kind: "gap"; from: bigint; to: bigint }
  | { kind: "far" };

export type Ahead = { header: Header; seenAtMs: number };

/**
 * The announced block, the hashes below it and the headers above it that validators told of. Blocks are linked by hash
 * and parent only: a number proves nothing.
 */
export function createAnnouncedChain({
  gapBlocksMax,
  rememberedBlocks,
  aheadHeadersMax,
}: {
  gapBlocksMax: number;
  rememberedBlocks: number;
  aheadHeadersMax: number;
}) {
  let head: Header | undefined;
  const hashes = new Map<bigint, string>();
  const ahead = new Map<string, Ahead>();

  /** The ancestor of `tip` right above the head, or where the way down to it breaks off. */
  function descend(tip: Header, floor: bigint): { child: Ahead } | { missing: bigint } {
    let entry = ahead.get(tip.hash) ?? { header: tip, seenAtMs: Number.POSITIVE_INFINITY };
    while (entry.header.number > floor + 1n) {
      const parent = ahead.get(entry.header.parentHash);
      // A parent that is not one lower is a lie, and following it could go round in circles.
      if (parent?.header.number !== entry.header.number - 1n) return { missing: entry.header.number - 1n };
      entry = parent;
    }
    return { child: entry };
  }

  const isFar = (tip: Header) => head !== undefined && tip.number - head.number > BigInt(gapBlocksMax);

  return {
    head: () => head,
    isFar,
    hashOf: (number: bigint) => hashes.get(number),

    /** Keeps a header above the head to link with. */
    offer(header: Header, nowMs: number): void {
      if (head === undefined || header.number <= head.number || isFar(header) || ahead.has(header.hash))
        return;
      // More than validators of one chain can tell: what is needed is told or fetched again.
      if (ahead.size >= aheadHeadersMax) ahead.clear();
      ahead.set(header.hash, { header, seenAtMs: nowMs });
    },

    knows: ({ number, hash }: Header) => ahead.has(hash) || hashes.get(number) === hash,

    place(tip: Header): Placement {
      if (head === undefined) return { kind: "nothing_announced" };
      if (tip.number <= head.number) {
        const hash = hashes.get(tip.number);
        if (hash !== undefined && hash !== tip.hash) return { kind: "diverged", at: tip.number };
        return { kind: tip.number === head.number ? "has" : "behind" };
      }
      if (isFar(tip)) return { kind: "far" };
      const way = descend(tip, head.number);
      if ("missing" in way) return { kind: "gap", from: head.number + 1n, to: way.missing };
      return way.child.header.parentHash === head.hash
        ? { kind: "has" }
        : { kind: "diverged", at: head.number };
    },

    /** For a tip above the head that has it: the block to announce next on the way to the tip. */
    nextTowards(tip: Header): Ahead | undefined {
      if (head === undefined || tip.number <= head.number || isFar(tip)) return undefined;
      const way = descend(tip, head.number);
      return "child" in way ? way.child : undefined;
    },

    /** Makes `header` the head; returns how many blocks between the old head and it were left out. */
    advance(header: Header): bigint {
      const skipped = head === undefined ? 0n : header.number - head.number - 1n;
      head = header;
      hashes.set(header.number, header.hash);
      for (const number of hashes.keys()) {
        if (hashes.size <= rememberedBlocks) break;
        hashes.delete(number);
      }
      for (const [hash, entry] of ahead) if (entry.header.number <= header.number) ahead.delete(hash);
      return skipped;
    },

    reset(): void {
      head = undefined;
      hashes.clear();
      ahead.clear();
    },
  };
}
