/** An item of a list: `at` is its first byte, its content goes from `start` to `end`. */
export type RlpItem = { isList: boolean; at: number; start: number; end: number };

/**
 * Reads the items of the RLP list that goes from `at` to the end of `bytes`, without reading the lists in it. Undefined where
 * it is not in the one canonical form (Yellow Paper, appendix B), or has more than `itemsMax` items.
 */
export function readRlpList(bytes: Uint8Array, at: number, itemsMax: number): RlpItem[] | undefined {
  const list = readItem(bytes, at, bytes.length);
  if (list?.isList !== true || list.end !== bytes.length) return undefined;
  const items: RlpItem[] = [];
  for (let next = list.start; next < list.end; ) {
    const item = readItem(bytes, next, list.end);
    if (item === undefined || items.length === itemsMax) return undefined;
    items.push(item);
    next = item.end;
  }
  return items;
}

/** The first bytes of a list whose items take `length` bytes. */
export function rlpListPrefix(length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(0xc0 + length);
  const digits = length.toString(16);
  const lengthBytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  return Buffer.concat([Uint8Array.of(0xf7 + lengthBytes.length), lengthBytes]);
}

function readItem(bytes: Uint8Array, at: number, limit: number): RlpItem | undefined {
  const first = at < limit ? bytes[at] : undefined;
  if (first === undefined) return undefined;
  if (first < 0x80) return { isList: false, at, start: at, end: at + 1 };
  const isList = first >= 0xc0;
  const length = first - (isList ? 0xc0 : 0x80);
  if (length < 56) {
    const item = itemOf(isList, at, at + 1, length, limit);
    // A byte below 0x80 stands for itself.
    const isPadded = length === 1 && !isList && (bytes[at + 1] ?? 0) < 0x80;
    return isPadded ? undefined : item;
  }
  const lengthBytes = length - 55;
  // Four bytes of length are more than any body needs. Leading zeros are not canonical.
  if (lengthBytes > 4 || at + 1 + lengthBytes > limit || bytes[at + 1] === 0) return undefined;
  const long = readNumber(bytes, at + 1, at + 1 + lengthBytes);
  return long < 56 ? undefined : itemOf(isList, at, at + 1 + lengthBytes, long, limit);
}

function itemOf(
  isList: boolean,
  at: number,
  start: number,
  length: number,
  limit: number,
): RlpItem | undefined {
  return start + length > limit ? undefined : { isList, at, start, end: start + length };
}

function readNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 256 + (bytes[at] ?? 0);
  return value;
}
