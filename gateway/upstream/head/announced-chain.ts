import type { Header } from "./read-header.ts";

export type AnnouncedChain = ReturnType<typeof createAnnouncedChain>;

/** A validator's latest block, compared with the announced one. */
export type Placement =
  | { kind: "nothing_announced" }
  | { kind: "has" }
  | { kind: "behind" }
  | { kind: "diverged"; at: bigint }
  | { kind: "gap"; from: bigint; to: bigint }
  | { kind: "far" };

export type HeaderAbove = { header: Header; seenAtMs: number };
/** `child` follows the head. `headers` go from the tip down to it. */
export type WayUp = { child: HeaderAbove; headers: readonly Header[] };

/**
 * The announced block, the hashes below it, and the headers above it that each validator reported. Blocks are linked by hash
 * and parent only: a number proves nothing. A validator's headers link its own blocks only. Otherwise a lie about a block's
 * parent would cut off the validators that tell the truth.
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
  const headersByLabel = new Map<string, Map<string, HeaderAbove>>();

  function headersOf(label: string): Map<string, HeaderAbove> {
    const before = headersByLabel.get(label);
    if (before !== undefined) return before;
    const known = new Map<string, HeaderAbove>();
    headersByLabel.set(label, known);
    return known;
  }

  /** The blocks from right above the head up to `tip`, or the number where the way down breaks off. */
  function descend(label: string, tip: Header, floor: bigint): WayUp | { missing: bigint } {
    const known = headersOf(label);
    let child = known.get(tip.hash) ?? { header: tip, seenAtMs: Number.POSITIVE_INFINITY };
    const headers = [child.header];
    while (child.header.number > floor + 1n) {
      const parent = known.get(child.header.parentHash);
      // A parent that is not one lower is a lie, and the way could become a circle.
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

    /** Keeps a header above the head, to link the validator's blocks. */
    offer(label: string, header: Header, nowMs: number): void {
      const known = headersOf(label);
      if (head === undefined || header.number <= head.number || isFar(header) || known.has(header.hash))
        return;
      // More than a validator of one chain can have: the needed ones come again.
      if (known.size >= aheadHeadersMax) known.clear();
      known.set(header.hash, { header, seenAtMs: nowMs });
    },

    knows: (label: string, { number, hash }: Header) =>
      headersOf(label).has(hash) || hashes.get(number) === hash,

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

    /** The way from the head to a validator's tip above it: its first block is the next to be announced. */
    wayTo(label: string, tip: Header): WayUp | undefined {
      if (head === undefined || tip.number <= head.number || isFar(tip)) return undefined;
      const way = descend(label, tip, head.number);
      return "child" in way ? way : undefined;
    },

    /** Validators that reported another block of this number. */
    contradictedBy: ({ number, hash }: Header): string[] =>
      [...headersByLabel].flatMap(([label, known]) => {
        const isOther = ({ header }: HeaderAbove) => header.number === number && header.hash !== hash;
        return [...known.values()].some(isOther) ? label : [];
      }),

    /** Makes `header` the head. Returns how many blocks between the old head and this one are skipped. */
    advance(header: Header): bigint {
      const skipped = head === undefined ? 0n : header.number - head.number - 1n;
      head = header;
      hashes.set(header.number, header.hash);
      for (const number of hashes.keys()) {
        if (hashes.size <= rememberedBlocks) break;
        hashes.delete(number);
      }
      for (const known of headersByLabel.values()) {
        for (const [hash, entry] of known) if (entry.header.number <= header.number) known.delete(hash);
      }
      return skipped;
    },

    reset(): void {
      head = undefined;
      hashes.clear();
      headersByLabel.clear();
    },
  };
}
