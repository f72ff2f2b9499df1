import type { ByteText } from "../../json-rpc/answer.ts";

/** Where `findParam` found it. One record for all: a new one for each call would be garbage for each call. */
export const found = { start: 0, end: 0 };

/**
 * Finds the parameter at `index` in the text of a JSON array. "there": it stands from `found.start` to `found.end`;
 * "next": it would be the next, and `found` is the place of the closing bracket; "beyond": others before it are missing
 * too.
 *
 * The text is known to be JSON: the scanner has proved it.
 */
export function findParam(text: ByteText, index: number): "there" | "next" | "beyond" {
  let at = skipBlank(text, 1);
  let param = 0;
  if (text.charCodeAt(at) !== closingBracket) {
    for (;;) {
      const end = valueEnd(text, at);
      if (param === index) {
        found.start = at;
        found.end = end;
        return "there";
      }
      param += 1;
      at = skipBlank(text, end);
      if (text.charCodeAt(at) === closingBracket) break;
      at = skipBlank(text, at + 1);
    }
  }
  found.start = at;
  found.end = at;
  return param === index ? "next" : "beyond";
}

const quote = 0x22;
const comma = 0x2c;
const openingBracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

function skipBlank(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return stringEnd(text, start);
  if (first === openingBrace || first === openingBracket) return nestedEnd(text, start);
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === comma || code === closingBracket) return at;
    at += 1;
  }
}

function nestedEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
      continue;
    }
    at += 1;
    if (code === openingBrace || code === openingBracket) depth += 1;
    else if (code === closingBrace || code === closingBracket) depth -= 1;
    if (depth === 0) return at;
  }
}

/** `indexOf` instead of a loop: most of the text is long hex, which it passes over many bytes at a time. */
function stringEnd(text: string, start: number): number {
  let close = text.indexOf('"', start + 1);
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return close + 1;
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (at - before) % 2 === 0;
}
