import { createHeadersAbove, type WayUp } from "./headers-above.ts";
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
  const above = createHeadersAbove({ headersMax: aheadHeadersMax });

  const isFar = (tip: Header) => head !== undefined && tip.number - head.number > BigInt(gapBlocksMax);

  return {
    head: () => head,
    isFar,
    hashOf: (number: bigint) => hashes.get(number),

    /** Keeps a header above the head, to link the validator's blocks. */
    offer(label: string, header: Header, nowMs: number): void {
      if (head === undefined || header.number <= head.number || isFar(header)) return;
      above.add(label, { header, seenAtMs: nowMs });
    },

    knows: (label: string, { number, hash }: Header) => above.has(label, hash) || hashes.get(number) === hash,

    place(label: string, tip: Header): Placement {
      if (head === undefined) return { kind: "nothing_announced" };
      if (tip.number <= head.number) {
        const hash = hashes.get(tip.number);
        if (hash !== undefined && hash !== tip.hash) return { kind: "diverged", at: tip.number };
        return { kind: tip.number === head.number ? "has" : "behind" };
      }
      if (isFar(tip)) return { kind: "far" };
      const way = above.descend(label, tip, head.number);
      if ("missing" in way) return { kind: "gap", from: head.number + 1n, to: way.missing };
      return way.child.header.parentHash === head.hash
        ? { kind: "has" }
        : { kind: "diverged", at: head.number };
    },

    /** The way from the head to a validator's tip above it: its first block is the next to be announced. */
    wayTo(label: string, tip: Header): WayUp | undefined {
      if (head === undefined || tip.number <= head.number || isFar(tip)) return undefined;
      const way = above.descend(label, tip, head.number);
      return "child" in way ? way : undefined;
    },

    /** Validators that reported another block of this number. */
    contradictedBy: above.contradictedBy,

    /** What a validator reported that is none any more. */
    forget: above.forget,

    /** Makes `header` the head. Returns how many blocks between the old head and this one are skipped. */
    advance(header: Header): bigint {
      const skipped = head === undefined ? 0n : header.number - head.number - 1n;
      head = header;
      hashes.set(header.number, header.hash);
      for (const number of hashes.keys()) {
        if (hashes.size <= rememberedBlocks) break;
        hashes.delete(number);
      }
      above.dropUpTo(header.number);
      return skipped;
    },

    reset(): void {
      head = undefined;
      hashes.clear();
      above.clear();
    },
  };
}
