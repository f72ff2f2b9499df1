/**
 * JSON's grammar (RFC 8259) over bytes that end with a NUL (see scan-source.ts). Each function takes the place where
 * something has to begin and returns the place behind it, or `failed`; then `finding` tells what is wrong and where.
 * Numbers instead of result objects, because a body has dozens of tokens and each object would cost more than the
 * token. `depthLeft` is how many arrays and objects may still be opened.
 */

/** Besu's parser (Jackson 2.15 and later, StreamReadConstraints) refuses longer numbers. */
export const numberBytesMax = 1000;

/**
 * Jackson refuses names above 50 000 characters and keeps the names that it has seen in a table for all requests to
 * come. No name in Ethereum's JSON-RPC is longer than a storage slot, 66 bytes.
 */
export const nameBytesMax = 1024;

export const failed = -1;

/** The rules of JSON that can be broken inside a value, and the limits of ours. */
export type BrokenRule =
  | "unexpected"
  | "control"
  | "escape"
  | "surrogate"
  | "depth"
  | "number-length"
  | "number-range"
  | "name-length";

/**
 * What `failed` stands for; and what was seen in strings: escapes, and bytes that still have to be proved UTF-8. Where
 * neither was seen, which is nearly always, no string of the body needs decoding.
 */
export const finding: { rule: BrokenRule; offset: number; hasEscape: boolean; hasNonAscii: boolean } = {
  rule: "unexpected",
  offset: 0,
  hasEscape: false,
  hasNonAscii: false,
};

export function fail(rule: BrokenRule, offset: number): number {
  finding.rule = rule;
  finding.offset = offset;
  return failed;
}

export function skipBlank(view: DataView, start: number): number {
  let at = start;
  for (;;) {
    const byte = view.getUint8(at);
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at;
    at += 1;
  }
}

export function skipValue(view: DataView, at: number, depthLeft: number): number {
  switch (view.getUint8(at)) {
    case 0x22: // "
      return skipString(view, at);
    case 0x5b: // [
      return skipArray(view, at, depthLeft);
    case 0x7b: // {
      return skipObject(view, at, depthLeft);
    case 0x74: // true
      return view.getInt32(at) === 0x74727565 ? at + 4 : failAfterLetters(view, at, "true");
    case 0x66: // false
      return view.getInt32(at + 1) === 0x616c7365 ? at + 5 : failAfterLetters(view, at, "false");
    case 0x6e: // null
      return view.getInt32(at) === 0x6e756c6c ? at + 4 : failAfterLetters(view, at, "null");
    default:
      return skipNumber(view, at);
  }
}

function failAfterLetters(view: DataView, start: number, word: string): number {
  let at = start;
  while (view.getUint8(at) === word.charCodeAt(at - start)) at += 1;
  return fail("unexpected", at);
}

function skipArray(view: DataView, start: number, depthLeft: number): number {
  if (depthLeft === 0) return fail("depth", start);
  let at = skipBlank(view, start + 1);
  if (view.getUint8(at) === 0x5d) return at + 1;
  for (;;) {
    // Most parameters are strings: asking here, where the call can be inlined, saves a tenth of a body.
    at = view.getUint8(at) === 0x22 ? skipString(view, at) : skipValue(view, at, depthLeft - 1);
    if (at === failed) return failed;
    at = skipBlank(view, at);
    const byte = view.getUint8(at);
    if (byte === 0x5d) return at + 1;
    if (byte !== 0x2c) return fail("unexpected", at);
    at = skipBlank(view, at + 1);
  }
}

function skipObject(view: DataView, start: number, depthLeft: number): number {
  if (depthLeft === 0) return fail("depth", start);
  let at = skipBlank(view, start + 1);
  if (view.getUint8(at) === 0x7d) return at + 1;
  for (;;) {
    at = skipName(view, at);
    if (at === failed) return failed;
    at = skipColon(view, at);
    if (at === failed) return failed;
    at = skipValue(view, at, depthLeft - 1);
    if (at === failed) return failed;
    at = skipBlank(view, at);
    const byte = view.getUint8(at);
    if (byte === 0x7d) return at + 1;
    if (byte !== 0x2c) return fail("unexpected", at);
    at = skipBlank(view, at + 1);
  }
}

export function skipName(view: DataView, start: number): number {
  if (view.getUint8(start) !== 0x22) return fail("unexpected", start);
  const end = skipString(view, start);
  return end - start - 2 > nameBytesMax ? fail("name-length", start) : end;
}

/** To the value behind the colon. */
export function skipColon(view: DataView, start: number): number {
  const at = skipBlank(view, start);
  return view.getUint8(at) === 0x3a ? skipBlank(view, at + 1) : fail("unexpected", at);
}

/**
 * Four bytes a step while none of them is a quote, a backslash, a control character or not ASCII: each subtraction
 * borrows into the top bit of the lowest byte that is one, and of no byte below it.
 */
function skipString(view: DataView, start: number): number {
  let at = start + 1;
  for (;;) {
    const four = view.getInt32(at, true);
    const marks =
      four | (four - 0x20202020) | ((four ^ 0x22222222) - 0x01010101) | ((four ^ 0x5c5c5c5c) - 0x01010101);
    const marked = marks & 0x80808080;
    if (marked === 0) {
      at += 4;
      continue;
    }
    at += (31 - Math.clz32(marked & -marked)) >> 3;
    const byte = view.getUint8(at);
    if (byte === 0x22) return at + 1;
    if (byte === 0x5c) {
      finding.hasEscape = true;
      at = skipEscape(view, at);
      if (at === failed) return failed;
    } else if (byte >= 0x80) {
      finding.hasNonAscii = true;
      at += 1;
    } else return fail("control", at);
  }
}

function skipEscape(view: DataView, start: number): number {
  switch (view.getUint8(start + 1)) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return start + 2;
    case 0x75: // u
      return skipUnicodeEscape(view, start);
    default:
      return fail("escape", start);
  }
}

/** Half a surrogate pair is no character and has no UTF-8 form: parsers disagree about it (RFC 8259, section 8.2). */
function skipUnicodeEscape(view: DataView, start: number): number {
  const unit = readUnicodeEscape(view, start);
  if (unit < 0) return fail("escape", start);
  if (unit < 0xd800 || unit > 0xdfff) return start + 6;
  if (unit > 0xdbff || view.getUint8(start + 6) !== 0x5c) return fail("surrogate", start);
  const second = readUnicodeEscape(view, start + 6);
  return second >= 0xdc00 && second <= 0xdfff ? start + 12 : fail("surrogate", start);
}

/** The UTF-16 unit that the escape at `start` stands for, or -1 for an invalid escape. */
export function readUnicodeEscape(view: DataView, start: number): number {
  if (view.getUint8(start + 1) !== 0x75) return -1;
  let unit = 0;
  for (let at = start + 2; at < start + 6; at += 1) {
    const digit = hexDigit(view.getUint8(at));
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function skipNumber(view: DataView, start: number): number {
  const first = view.getUint8(start) === 0x2d ? start + 1 : start;
  // No digit may follow a leading zero: what follows is then unexpected where the number stands.
  let at = view.getUint8(first) === 0x30 ? first + 1 : skipDigits(view, first);
  if (at === failed) return failed;
  const integerDigits = at - first;
  if (view.getUint8(at) === 0x2e) {
    at = skipDigits(view, at + 1);
    if (at === failed) return failed;
  }
  const hasExponent = (view.getUint8(at) | 0x20) === 0x65;
  if (hasExponent) {
    const sign = view.getUint8(at + 1);
    at = skipDigits(view, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
    if (at === failed) return failed;
  }
  if (at - start > numberBytesMax) return fail("number-length", start);
  // The greatest double has 309 digits: only a number of so many, or with an exponent, can lie beyond it.
  if ((hasExponent || integerDigits > 308) && !isFiniteNumber(view, start, at))
    return fail("number-range", start);
  return at;
}

function skipDigits(view: DataView, start: number): number {
  let at = start;
  let byte = view.getUint8(at);
  while (byte >= 0x30 && byte <= 0x39) {
    at += 1;
    byte = view.getUint8(at);
  }
  return at === start ? fail("unexpected", at) : at;
}

/** A number beyond the greatest double is an infinity to a validator's parser, which JSON cannot write; 1e-400 is 0. */
function isFiniteNumber(view: DataView, start: number, end: number): boolean {
  let text = "";
  for (let at = start; at < end; at += 1) text += String.fromCharCode(view.getUint8(at));
  return Number.isFinite(Number(text));
}
