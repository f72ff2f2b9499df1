import { isAscii, isUtf8 } from "node:buffer";
import { loadView } from "../../json-rpc/scan-source.ts";
import { failed, skipValue } from "../../json-rpc/scan-value.ts";
import { usualBeforeId, type WholeAnswer } from "../upstream-result.ts";

/** Ids of an array's calls are their places, from 1. So the text around them is made once. */
const idsMax = 1000;

const heads: string[] = [];
for (let id = 0; id <= idsMax; id += 1) heads.push(`${usualBeforeId}${id},"`);

const comma = 0x2c;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const closingBrace = 0x7d;

/** A deeper result is read the careful way, which does not call itself for each level. */
const depthMax = 400;

/** Of a longer body each answer is a text of its own: a piece of one text would keep all of it in memory. */
const sharedTextBytesMax = 16 * 1024;

/** A body that is being cut: its bytes under the scanner, and how a part of it becomes text. */
type Source = { body: Buffer; view: DataView; isAscii: boolean; text: string | undefined };

/**
 * Cuts the answers to an array of `count` calls out of a body, where it is written as validators write it: members and
 * answers in the usual order, no blanks. Undefined for anything else, which is left to the careful way.
 *
 * Each result is proved to be JSON while its end is looked for: what is remembered or shared hurts everybody if it is not.
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

/** The same for one call that was asked alone, with the id 1. */
export function cutLone(body: Buffer): WholeAnswer | undefined {
  const source = open(body);
  const head = heads[1] ?? "";
  if (source === undefined || answerEnd(source, 0, head) !== body.length) return undefined;
  return answerAt(source, head.length, body.length);
}

/** Undefined where the bytes are no UTF-8. */
function open(body: Buffer): Source | undefined {
  const ascii = isAscii(body);
  if (!ascii && !isUtf8(body)) return undefined;
  const text = body.length <= sharedTextBytesMax ? body.toString("latin1") : undefined;
  return { body, view: loadView(body), isAscii: ascii, text };
}

/** Who gave it is written in where that is known. `member`: behind the quote before the second member's name. */
function answerAt({ body, text, isAscii: ascii }: Source, member: number, end: number): WholeAnswer {
  // The head's last two characters are a comma and a quote, which come behind the id.
  const afterId = text === undefined ? body.toString("latin1", member - 2, end) : text.slice(member - 2, end);
  return { beforeId: usualBeforeId, afterId, isAscii: ascii, validator: "", wasAtHead: false };
}

/** The place behind an answer `{"jsonrpc":"2.0","id":1,"result":…}` or `…,"error":{…}}`, or `failed`. */
function answerEnd({ body, view, text }: Source, at: number, head: string): number {
  const member = at + head.length;
  // Nine more for `result":` and the least that a result can be: so the bytes that are looked at are the body's.
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
