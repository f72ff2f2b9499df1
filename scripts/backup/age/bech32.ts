/** Bech32 as age uses it: without the limit of 90 letters. https://github.com/bitcoin/bips/blob/master/bip-0173.mediawiki */

const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const checksumLetters = 6;

/** `prefix`, a 1, the bytes and a checksum; lower case. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  const words = regroup({ values: bytes, from: 8, to: 5 });
  // Eight bits never leave a rest that cannot be padded.
  if (words === undefined) throw new Error("bytes cannot be regrouped");
  const rest = polymod([...expand(prefix), ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const checksum = Array.from({ length: checksumLetters }, (_, index) => (rest >> (5 * (5 - index))) & 31);
  return `${prefix}1${[...words, ...checksum].map((word) => alphabet[word]).join("")}`;
}

/** The bytes behind `prefix`; undefined where the text is none of its kind or has a typing error. */
export function decodeBech32(prefix: string, text: string): Uint8Array | undefined {
  const isOneCase = text === text.toLowerCase() || text === text.toUpperCase();
  const lower = text.toLowerCase();
  if (!isOneCase || !lower.startsWith(`${prefix}1`)) return undefined;
  const words = [...lower.slice(prefix.length + 1)].map((letter) => alphabet.indexOf(letter));
  if (words.length < checksumLetters || words.includes(-1)) return undefined;
  if (polymod([...expand(prefix), ...words]) !== 1) return undefined;
  const bytes = regroup({ values: words.slice(0, -checksumLetters), from: 5, to: 8 });
  return bytes === undefined ? undefined : Uint8Array.from(bytes);
}

function expand(prefix: string): number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function polymod(words: readonly number[]): number {
  let sum = 1;
  for (const word of words) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    for (const [bit, generator] of generators.entries()) if ((top >> bit) & 1) sum ^= generator;
  }
  return sum;
}

/** Bits in groups of another size. From eight to five the rest is filled with zeros, and in the other direction it has to be zeros. */
function regroup({
  values,
  from,
  to,
}: {
  values: Iterable<number>;
  from: number;
  to: number;
}): number[] | undefined {
  const groups: number[] = [];
  let held = 0;
  let bits = 0;
  for (const value of values) {
    held = ((held << from) | value) & 0xfff;
    bits += from;
    while (bits >= to) {
      bits -= to;
      groups.push((held >> bits) & ((1 << to) - 1));
    }
  }
  const rest = (held << (to - bits)) & ((1 << to) - 1);
  if (to < from) return bits === 0 ? groups : [...groups, rest];
  return bits >= from || rest !== 0 ? undefined : groups;
}
