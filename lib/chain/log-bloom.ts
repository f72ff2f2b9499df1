import { keccak256 } from "./keccak256.ts";

const bloomBytes = 256;

/** A block's `logsBloom` as bytes; undefined for anything else, which rules nothing out. */
export function readBloom(value: unknown): Uint8Array | undefined {
  return typeof value === "string" && value.length === 2 + 2 * bloomBytes
    ? Buffer.from(value.slice(2), "hex")
    : undefined;
}

export function isEmptyBloom(bloom: Uint8Array): boolean {
  return bloom.every((byte) => byte === 0);
}

/**
 * Makes the test whether a block may have a log that is wanted, by the bloom filter of its header: `false` is certain
 * (Yellow Paper, section 4.4.3: address and topics of each log are in it). Values are hashed when they are first looked
 * for, the place with the fewest first: most blocks are ruled out by that one alone.
 */
export function createBloomTest({
  addresses,
  topics,
}: {
  /** None: of every address. */
  addresses: readonly string[];
  /** At each place any of the values; null: any value at all. */
  topics: readonly (readonly string[] | null)[];
}): (bloom: Uint8Array | undefined) => boolean {
  const places = [addresses, ...topics]
    .flatMap((values) => (values === null || values.length === 0 ? [] : [values]))
    .toSorted((one, other) => one.length - other.length)
    .map((values) => ({ values, bits: new Uint16Array(3 * values.length), hashed: 0 }));
  return (bloom) =>
    bloom === undefined ||
    places.every((place) => {
      for (let at = 0; at < place.values.length; at += 1) {
        if (at === place.hashed) {
          place.bits.set(bloomBitsOf(place.values[at] ?? ""), 3 * at);
          place.hashed += 1;
        }
        if (hasBits(bloom, place.bits, 3 * at)) return true;
      }
      return false;
    });
}

/** The three bits of a value in hex: each the low 11 bits of a pair of bytes of its Keccak-256. */
export function bloomBitsOf(value: string): readonly number[] {
  const digest = keccak256(Buffer.from(value.slice(2), "hex"));
  return [0, 2, 4].map((at) => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047);
}

/** Whether the three bits that begin at `from` are set. Bit 0 is the lowest bit of the last byte. */
export function hasBits(bloom: Uint8Array, bits: ArrayLike<number>, from = 0): boolean {
  for (let at = from; at < from + 3; at += 1) {
    const bit = bits[at] ?? 0;
    if (((bloom[bloomBytes - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
