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

export type HeaderAbove = { header: Header; seenAtMs: number };
/** `child` follows the head, and `headers` go from the tip down to it. */
export type WayUp = { child: HeaderAbove; headers: readonly Header[] };

/**
 * The announced block, the hashes below it and the headers above it that each validator told of. Blocks are linked by
 * hash and parent only: a number proves nothing. What one validator told links its own blocks only: who lies of a
 * block's parent would else cut off those that tell the truth.
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
  const aheadOf = new Map<string, Map<string, HeaderAbove>>();

  function toldBy(label: string): Map<string, HeaderAbove> {
    const before = aheadOf.get(label);
    if (before !== undefined) return before;
    const told = new Map<string, HeaderAbove>();
    aheadOf.set(label, told);
    return told;
  }

  /** The blocks from right above the head up to `tip`, or where the way down breaks off. */
  function descend(label: string, tip: Header, floor: bigint): WayUp | { missing: bigint } {
    const told = toldBy(label);
    let child = told.get(tip.hash) ?? { header: tip, seenAtMs: Number.POSITIVE_INFINITY };
    const headers = [child.header];
    while (child.header.number > floor + 1n) {
      const parent = told.get(child.header.parentHash);
      // A parent that is not one lower is a lie, and following it could go round in circles.
      if (parent?.header.number !== child.header.number - 1n) return { missing: child.header.number - 1n };
      child = parent;
      headers.push(child.header);
    }
    return { child, headers };
  }

  const isFar = (tip: Header) => head !== undefined && tip.number - head.number > BigInt(gapBlocksMax);

  return {
    head: () => head,
    isFar,
    hashOf: (number: bigint) => hashes.get(number),

    /** Keeps a header above the head to link the validator's blocks with. */
    offer(label: string, header: Header, nowMs: number): void {
      const told = toldBy(label);
      if (head === undefined || header.number <= head.number || isFar(header) || told.has(header.hash))
        return;
      // More than a validator of one chain can tell: what is needed is told or fetched again.
      if (told.size >= aheadHeadersMax) told.clear();
      told.set(header.hash, { header, seenAtMs: nowMs });
    },

    knows: (label: string, { number, hash }: Header) =>
      toldBy(label).has(hash) || hashes.get(number) === hash,

    place(label: string, tip: Header): Placement {
      if (head === undefined) return { kind: "nothing_announced" };
      if (tip.number <= head.number) {
        const hash = hashes.get(tip.number);
        if (hash !== undefined && hash !== tip.hash) return { kind: "diverged", at: tip.number };
        return { kind: tip.number === head.number ? "has" : "behind" };
      }
      if (isFar(tip)) return { kind: "far" };
      const way = descend(label, tip, head.number);
      if ("missing" in way) return { kind: "gap", from: head.number + 1n, to: way.missing };
      return way.child.header.parentHash === head.hash
        ? { kind: "has" }
        : { kind: "diverged", at: head.number };
    },

    /** For a validator's tip above the head that has it: the way there, whose first block is to be announced next. */
    wayTo(label: string, tip: Header): WayUp | undefined {
      if (head === undefined || tip.number <= head.number || isFar(tip)) return undefined;
      const way = descend(label, tip, head.number);
      return "child" in way ? way : undefined;
    },

    /** Who told another block of this one's number. */
    contradictedBy: ({ number, hash }: Header): string[] =>
      [...aheadOf].flatMap(([label, told]) => {
        const isOther = ({ header }: HeaderAbove) => header.number === number && header.hash !== hash;
        return [...told.values()].some(isOther) ? label : [];
      }),

    /** Makes `header` the head; returns how many blocks between the old head and it were left out. */
    advance(header: Header): bigint {
      const skipped = head === undefined ? 0n : header.number - head.number - 1n;
      head = header;
      hashes.set(header.number, header.hash);
      for (const number of hashes.keys()) {
        if (hashes.size <= rememberedBlocks) break;
        hashes.delete(number);
      }
      for (const told of aheadOf.values()) {
        for (const [hash, entry] of told) if (entry.header.number <= header.number) told.delete(hash);
      }
      return skipped;
    },

    reset(): void {
      head = undefined;
      hashes.clear();
      aheadOf.clear();
    },
  };
}
