import { decodeExtraData, encodeExtraData } from "./extra-data.ts";

/**
 * A block's size in bytes as it would be without seals and round. What a validator tells counts the seals that it keeps:
 * not all keep as many, so of one block there are several sizes. Of the genesis block, which nobody sealed, and of chains
 * of another consensus it is what was told.
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
  // The header is longer than 255 bytes either way (its bloom filter is), so the prefix of its own length stays.
  const shorter = itemBytes(extraData) - itemBytes(hashed);
  const content = contentBytes(size);
  return content === undefined ? size : prefixBytes(content - shorter) + content - shorter;
}

/** Bytes of an RLP item that is a text of hexadecimal. */
function itemBytes(hex: string): number {
  const length = (hex.length - 2) / 2;
  return prefixBytes(length) + length;
}

/** Bytes that say how long what follows is: one, or from 56 bytes on one and the length. */
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
