import { isAscii, isUtf8 } from "node:buffer";
import { usualBeforeId, type WholeAnswer } from "./pool-answer.ts";

/** Ids of an array's calls are their places, from 1. So the text around them is made once. */
const idsMax = 1000;

const heads: string[] = [];
const separators: string[] = [];
for (let id = 0; id <= idsMax; id += 1) {
  heads.push(`${usualBeforeId}${id},"`);
  separators.push(`,${usualBeforeId}${id},"`);
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const closingBracket = 0x5d;
const closingBrace = 0x7d;

/**
 * Cuts the answers to an array of `count` calls out of a body, where it is written as validators write it: members and
 * answers in the usual order, no blanks. Undefined for anything else, which is left to the careful way.
 *
 * A result that is a string is proved by its quotes. Of an object or an array the first and the last byte must fit: what
 * stands between belongs to one answer, because inside a string the next answer's head would have its quotes escaped.
 */
export function cutArray(body: Buffer, count: number): WholeAnswer[] | undefined {
  const ascii = isAscii(body);
  if (count > idsMax || (!ascii && !isUtf8(body))) return undefined;
  const text = body.toString("latin1");
  const last = text.length - 1;
  if (text.charCodeAt(0) !== 0x5b || text.charCodeAt(last) !== 0x5d) return undefined;
  const answers: WholeAnswer[] = [];
  let at = 1;
  for (let id = 1; id <= count; id += 1) {
    const head = heads[id] ?? "";
    if (!text.startsWith(head, at)) return undefined;
    const member = at + head.length;
    const end = answerEnd(text, member, id === count ? undefined : separators[id + 1]);
    if (end === -1) return undefined;
    // The head's last two characters are a comma and a quote, which come behind the id.
    answers.push(unsigned(text.slice(member - 2, end), ascii));
    at = end + 1;
  }
  return at === text.length ? answers : undefined;
}

/** The same for one call that was asked alone, with the id 1. */
export function cutLone(body: Buffer): WholeAnswer | undefined {
  const ascii = isAscii(body);
  if (!ascii && !isUtf8(body)) return undefined;
  const text = body.toString("latin1");
  const head = heads[1] ?? "";
  if (!text.startsWith(head) || !isAnswer(text, head.length, text.length)) return undefined;
  return unsigned(text.slice(head.length - 2), ascii);
}

/** Who gave it is written in where that is known. */
function unsigned(afterId: string, isAscii: boolean): WholeAnswer {
  return { beforeId: usualBeforeId, afterId, isAscii, validator: -1, wasAtHead: false };
}

/**
 * Where the answer ends whose second member's name begins at `at`, or -1 where it does not look like one. Without a
 * separator it is the last.
 */
function answerEnd(text: string, at: number, separator: string | undefined): number {
  if (text.charCodeAt(at + 8) === quote) {
    // Most results are short strings: the end of one is near, and finding it costs less than finding the next head.
    const end = stringAnswerEnd(text, at);
    const next = text.charCodeAt(end);
    if (end !== -1 && (separator === undefined ? next === closingBracket : next === comma)) return end;
  }
  const end = separator === undefined ? text.length - 1 : text.indexOf(separator, at);
  return end !== -1 && isAnswer(text, at, end) ? end : -1;
}

/** The end of `result":"…"}`; -1 where it is none, or where a quote might be escaped. */
function stringAnswerEnd(text: string, at: number): number {
  if (!text.startsWith('result":"', at)) return -1;
  const close = text.indexOf('"', at + 9);
  const isClosed = text.charCodeAt(close + 1) === closingBrace && text.charCodeAt(close - 1) !== backslash;
  return close !== -1 && isClosed ? close + 2 : -1;
}

/** Whether `at` to `end` can be `result":…}` or `error":{…}`. */
function isAnswer(text: string, at: number, end: number): boolean {
  if (text.charCodeAt(end - 1) !== closingBrace) return false;
  const closing = text.charCodeAt(end - 2);
  if (text.startsWith('result":', at)) {
    switch (text.charCodeAt(at + 8)) {
      case quote:
        return stringAnswerEnd(text, at) === end;
      case 0x7b:
        return closing === closingBrace && end - 2 > at + 8;
      case 0x5b:
        return closing === closingBracket;
      default:
        return /^(null|true|false|-?\d{1,20})$/.test(text.slice(at + 8, end - 1));
    }
  }
  return text.startsWith('error":{', at) && isJson(text.slice(at + 7, end - 1));
}

/** Errors are rare and short, and read by this process too. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
