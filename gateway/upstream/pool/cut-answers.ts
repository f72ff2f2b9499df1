import { isAscii, isUtf8 } from "node:buffer";
import { loadView } from "../../json-rpc/scan-source.ts";
import { failed, skipValue } from "../../json-rpc/scan-value.ts";
import { usualBeforeId, type WholeAnswer } from "../upstream-result.ts";

/** The ids of an array's calls are their places, from 1. So the text around them is made once. */
const idsMax = 1000;

const heads: string[] = [];
for (let id = 0; id <= idsMax; id += 1) heads.push(`${usualBeforeId}${id},"`);

const comma = 0x2c;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const closingBrace = 0x7d;

/** A deeper result is read by the careful way, which needs no stack for each level. */
const depthMax = 400;

/** Each answer of a longer body is a text of its own: a piece of one text would keep all of it in memory. */
const sharedTextBytesMax = 16 * 1024;

/** A body that is being cut: its bytes for the scanner, and its text where that is short. */
type Source = { body: Buffer; view: DataView; isAscii: boolean; text: string | undefined };

/**
 * Cuts the answers to an array of `count` calls out of a body that is written as validators write it: members and answers
 * in the usual order, no blanks. Undefined for any other body, which the careful way reads.
 *
 * The scan for a result's end also proves it to be JSON: a cached or shared answer that is not would hurt everybody.
 */
export function cutArray(body: Buffer, count: number): WholeAnswer[] | undefined {
  const source = count > idsMax ? undefined : open(body);
  if (source?.view.getUint8(0) !== openingBracket) return undefined;
  const answers: WholeAnswer[] = [];
  let at = 1;
  for (let id = 1; id <= count; id += 1) {
    const head = heads[id] ?? "";
    const end = answerEnd(source, at, head);
    if (end === failed) return undefined;
    const next = source.view.getUint8(end);
    if (next !== (id === count ? closingBracket : comma)) return undefined;
    answers.push(answerAt(source, at + head.length, end));
    at = end + 1;
  }
  return at === body.length ? answers : undefined;
}

/** The same for a call that went alone, with the id 1. */
export function cutLone(body: Buffer): WholeAnswer | undefined {
  const source = open(body);
  const head = heads[1] ?? "";
  if (source === undefined || answerEnd(source, 0, head) !== body.length) return undefined;
  return answerAt(source, head.length, body.length);
}

/** Undefined where the bytes are not UTF-8. */
function open(body: Buffer): Source | undefined {
  const ascii = isAscii(body);
  if (!ascii && !isUtf8(body)) return undefined;
  const text = body.length <= sharedTextBytesMax ? body.toString("latin1") : undefined;
  return { body, view: loadView(body), isAscii: ascii, text };
}

/** The caller fills in the validator. `member` is the place behind the quote before the second member's name. */
function answerAt({ body, text, isAscii: ascii }: Source, member: number, end: number): WholeAnswer {
  // The last two characters of the head are the comma and the quote behind the id.
  const afterId = text === undefined ? body.toString("latin1", member - 2, end) : text.slice(member - 2, end);
  return { beforeId: usualBeforeId, afterId, isAscii: ascii, validator: "", wasAtHead: false };
}

/** The place behind an answer `{"jsonrpc":"2.0","id":1,"result":…}` or `…,"error":{…}}`; else `failed`. */
function answerEnd({ body, view, text }: Source, at: number, head: string): number {
  const member = at + head.length;
  // Nine more bytes for `result":` and the shortest result, so that the scan stays inside the body.
  if (member + 9 > body.length) return failed;
  const isHead =
    text === undefined ? body.toString("latin1", at, member) === head : text.startsWith(head, at);
  const value = isHead ? valueStart(view, member) : failed;
  if (value === failed) return failed;
  const end = skipValue(view, value, depthMax);
  return end !== failed && view.getUint8(end) === closingBrace ? end + 1 : failed;
}

/** The place behind `result":`, or behind `error":` before an object. */
function valueStart(view: DataView, at: number): number {
  switch (view.getInt32(at)) {
    case 0x72657375: // resu lt":
      return view.getInt32(at + 4) === 0x6c74223a ? at + 8 : failed;
    case 0x6572726f: // erro r":{
      return view.getInt32(at + 4) === 0x72223a7b ? at + 7 : failed;
    default:
      return failed;
  }
}
