import { decodeExtraData, encodeExtraData } from "./extra-data.ts";

/**
 * A block's size in bytes without seals and round. The size that a validator reports includes the seals that it keeps. Not
 * all keep the same number, so one block has several sizes. The genesis block has no seals, and other consensus has
 * none: their reported size stays.
 *
 * @param size of `eth_getBlockByNumber`: the block's RLP with all of `extraData`.
 */
export function unsealedSize({
  number,
  size,
  extraData,
}: {
  number: number;
  size: number;
  extraData: string;
}): number {
  const decoded = decodeExtraData(extraData);
  if (number === 0 || !("extraData" in decoded)) return size;
  const hashed = encodeExtraData(decoded.extraData, "without round and seals");
  // The header is longer than 255 bytes either way (its bloom filter alone is), so its length prefix stays.
  const shorter = itemBytes(extraData) - itemBytes(hashed);
  const content = contentBytes(size);
  return content === undefined ? size : prefixBytes(content - shorter) + content - shorter;
}

/** Bytes of an RLP item that is a text of hexadecimal. */
function itemBytes(hex: string): number {
  const length = (hex.length - 2) / 2;
  return prefixBytes(length) + length;
}

/** Bytes of a length prefix: one, or from 56 bytes on one and the length itself. */
function prefixBytes(length: number): number {
  if (length < 56) return 1;
  let bytes = 1;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes += 1;
  return bytes;
}

/** What a list of `whole` bytes holds; undefined where no list has that size. */
function contentBytes(whole: number): number | undefined {
  return [1, 2, 3, 4, 5]
    .map((prefix) => whole - prefix)
    .find((length) => length > 0 && length + prefixBytes(length) === whole);
}
