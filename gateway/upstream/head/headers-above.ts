import type { Header } from "./read-header.ts";

export type HeaderAbove = { header: Header; seenAtMs: number };
/** `child` follows the head. `headers` go from the tip down to it. */
export type WayUp = { child: HeaderAbove; headers: readonly Header[] };

/** The headers above the announced block that each validator reported, linked by hash and parent. */
export function createHeadersAbove({ headersMax }: { headersMax: number }) {
  const byLabel = new Map<string, Map<string, HeaderAbove>>();

  function headersOf(label: string): Map<string, HeaderAbove> {
    const before = byLabel.get(label);
    if (before !== undefined) return before;
    const known = new Map<string, HeaderAbove>();
    byLabel.set(label, known);
    return known;
  }

  return {
    has: (label: string, hash: string) => headersOf(label).has(hash),

    /** Keeps a header, to link the validator's blocks. The time of the first report stays. */
    add(label: string, above: HeaderAbove): void {
      const known = headersOf(label);
      if (known.has(above.header.hash)) return;
      // More than a validator of one chain can have: the needed ones come again.
      if (known.size >= headersMax) known.clear();
      known.set(above.header.hash, above);
    },

    /** The blocks from right above the head up to `tip`, or the number at which the way down breaks off. */
    descend(label: string, tip: Header, floor: bigint): WayUp | { missing: bigint } {
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
    },

    /** Validators that reported another block of this number. */
    contradictedBy: ({ number, hash }: Header): string[] =>
      [...byLabel].flatMap(([label, known]) => {
        const isOther = ({ header }: HeaderAbove) => header.number === number && header.hash !== hash;
        return [...known.values()].some(isOther) ? label : [];
      }),

    dropUpTo(number: bigint): void {
      for (const known of byLabel.values()) {
        for (const [hash, { header }] of known) if (header.number <= number) known.delete(hash);
      }
    },

    /** Another validator may get its label. */
    forget: (label: string) => void byLabel.delete(label),

    clear(): void {
      byLabel.clear();
    },
  };
}
