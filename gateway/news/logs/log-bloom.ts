import { keccak256 } from "ethers";
import type { LogCriteria } from "./log-criteria.ts";

const bloomBytes = 256;

/** A block's `logsBloom` as bytes; undefined where it is none, which then rules nothing out. */
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
 * (Yellow Paper, section 4.4.3: address and topics of each log are in it).
 */
export function createBloomTest({
  addresses,
  topics,
}: LogCriteria): (bloom: Uint8Array | undefined) => boolean {
  const places = [addresses, ...topics]
    .filter((values) => values !== null && values.length > 0)
    .map((values) => (values ?? []).map(bitsOf));
  return (bloom) =>
    bloom === undefined ||
    places.every((values) => values.some((bits) => bits.every((bit) => has(bloom, bit))));
}

/** The three bits of a value: each the low 11 bits of a pair of bytes of its Keccak-256. */
function bitsOf(value: string): readonly number[] {
  const digest = Buffer.from(keccak256(value).slice(2), "hex");
  return [0, 2, 4].map((at) => digest.readUInt16BE(at) & 2047);
}

/** Bit 0 is the lowest bit of the last byte. */
function has(bloom: Uint8Array, bit: number): boolean {
  return ((bloom[bloomBytes - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
}
