import type { ScannedCall } from "./scan-result.ts";
import type { ScanSource } from "./scan-source.ts";
import { decodeString } from "./scan-string.ts";
import { fail, failed, finding, skipBlank, skipColon, skipName, skipValue } from "./scan-value.ts";

/**
 * A request object has four members; what else a client adds is ignored. Bounded, because finding a double compares a
 * name with all before it.
 */
export const topLevelMembersMax = 32;

/**
 * What was found in the request object under the scanner: where the four values stand (0: nowhere, for no value begins
 * at a body's first byte) and what is wrong with its members. One record, cleared for each object: a new one for each
 * would be garbage for each call.
 */
const item = {
  idStart: 0,
  idEnd: 0,
  versionStart: 0,
  versionEnd: 0,
  methodStart: 0,
  methodEnd: 0,
  paramsStart: 0,
  paramsEnd: 0,
  members: 0,
  isIdDoubled: false,
  isMemberDoubled: false,
};

/** The names of all other members. */
const otherNames: string[] = [];

// Numbers, because comparing names as strings cost a quarter of the time of a body.
const otherMember = 0;
const idMember = 1;
const versionMember = 2;
const methodMember = 3;
const paramsMember = 4;

/**
 * Passes over a request object, from its brace to behind its last. `takeCall` then tells what it asks for; after
 * `failed`, `takeId` tells the id, where that stood before what is wrong.
 */
export function skipItem(source: ScanSource, start: number, depthLeft: number): number {
  clearItem();
  const { view } = source;
  if (depthLeft === 0) return fail("depth", start);
  let at = skipBlank(view, start + 1);
  if (view.getUint8(at) === 0x7d) return at + 1;
  for (;;) {
    let member = usualMember(view, at);
    let nameEnd = at + usualNameBytes(member);
    if (member === otherMember) {
      nameEnd = skipName(view, at);
      if (nameEnd === failed) return failed;
      member = unusualMember(stringAt(source.text, at, nameEnd));
    }
    const valueStart = skipColon(view, nameEnd);
    if (valueStart === failed) return failed;
    const valueEnd = skipValue(view, valueStart, depthLeft - 1);
    if (valueEnd === failed) return failed;
    noteMember(member, valueStart, valueEnd);
    at = skipBlank(view, valueEnd);
    const byte = view.getUint8(at);
    if (byte === 0x7d) return at + 1;
    if (byte !== 0x2c) return fail("unexpected", at);
    at = skipBlank(view, at + 1);
  }
}

/**
 * The fast path: the four names as everybody writes them, told by four bytes at a time, in whatever order. (ethers sends
 * method, params, id, jsonrpc; viem jsonrpc, id, method, params: a fixed prefix would serve only one of them.)
 */
function usualMember(view: DataView, at: number): number {
  switch (view.getInt32(at)) {
    case 0x22696422: // "id"
      return idMember;
    case 0x226d6574: // "met hod"
      return view.getInt32(at + 4) === 0x686f6422 ? methodMember : otherMember;
    case 0x22706172: // "par ams"
      return view.getInt32(at + 4) === 0x616d7322 ? paramsMember : otherMember;
    case 0x226a736f: // "jso nrpc "
      return view.getInt32(at + 4) === 0x6e727063 && view.getUint8(at + 8) === 0x22
        ? versionMember
        : otherMember;
    default:
      return otherMember;
  }
}

/** With the quotes. */
function usualNameBytes(member: number): number {
  if (member === idMember) return 4;
  return member === versionMember ? 9 : 8;
}

/** The slow path: names with escapes, and other names than the four. */
function unusualMember(name: string): number {
  switch (name) {
    case "id":
      return idMember;
    case "jsonrpc":
      return versionMember;
    case "method":
      return methodMember;
    case "params":
      return paramsMember;
  }
  if (otherNames.includes(name)) item.isMemberDoubled = true;
  else if (otherNames.length < topLevelMembersMax) otherNames.push(name);
  return otherMember;
}

function noteMember(member: number, start: number, end: number): void {
  item.members += 1;
  switch (member) {
    case idMember:
      if (item.idStart !== 0) item.isIdDoubled = true;
      item.idStart = start;
      item.idEnd = end;
      return;
    case versionMember:
      if (item.versionStart !== 0) item.isMemberDoubled = true;
      item.versionStart = start;
      item.versionEnd = end;
      return;
    case methodMember:
      if (item.methodStart !== 0) item.isMemberDoubled = true;
      item.methodStart = start;
      item.methodEnd = end;
      return;
    case paramsMember:
      if (item.paramsStart !== 0) item.isMemberDoubled = true;
      item.paramsStart = start;
      item.paramsEnd = end;
  }
}

function clearItem(): void {
  item.idStart = 0;
  item.versionStart = 0;
  item.methodStart = 0;
  item.paramsStart = 0;
  item.members = 0;
  item.isIdDoubled = false;
  item.isMemberDoubled = false;
  if (otherNames.length > 0) otherNames.length = 0;
}

/** What the object that was passed over asks for, or why it is no request (JSON-RPC 2.0, section 4). */
export function takeCall({ view, text }: ScanSource): ScannedCall {
  const wrong = whatIsWrong(view, text);
  if (wrong !== undefined) {
    return { kind: "invalid", idText: takeId({ view, text }), message: `Invalid Request: ${wrong}` };
  }
  const hasParams = item.paramsStart !== 0 && view.getUint8(item.paramsStart) !== 0x6e;
  return {
    kind: "call",
    idText: item.idStart === 0 ? undefined : text.slice(item.idStart, item.idEnd),
    method: stringAt(text, item.methodStart, item.methodEnd),
    paramsText: hasParams ? text.slice(item.paramsStart, item.paramsEnd) : undefined,
  };
}

/** The id to answer an object with that is not carried out: its own where it has one that is legal, else `null`. */
export function takeId({ view, text }: Pick<ScanSource, "view" | "text">): string {
  const isReadable = item.idStart !== 0 && !item.isIdDoubled && isLegalId(view.getUint8(item.idStart));
  return isReadable ? text.slice(item.idStart, item.idEnd) : "null";
}

function whatIsWrong(view: DataView, text: string): string | undefined {
  if (item.isIdDoubled || item.isMemberDoubled) return "a member is given twice, give each once";
  if (item.members > topLevelMembersMax) return `at most ${topLevelMembersMax} members are read, send fewer`;
  if (item.idStart !== 0 && !isLegalId(view.getUint8(item.idStart)))
    return "id must be a string, a number or null";
  if (!isVersion2(view, text)) return 'jsonrpc must be the string "2.0"';
  if (item.methodStart === 0) return "method is missing, give its name as a string";
  if (view.getUint8(item.methodStart) !== 0x22) return "method must be a string";
  if (item.paramsStart !== 0 && !isLegalParams(view.getUint8(item.paramsStart))) {
    return "params must be an array or an object";
  }
  return undefined;
}

// The values are proved JSON: their first byte is enough to know their type.

function isLegalId(byte: number): boolean {
  return byte === 0x22 || byte === 0x2d || (byte >= 0x30 && byte <= 0x39) || byte === 0x6e;
}

/** Besu and geth take `params: null` for no parameters; JSON-RPC 2.0 does not forbid it. */
function isLegalParams(byte: number): boolean {
  return byte === 0x5b || byte === 0x7b || byte === 0x6e;
}

function isVersion2(view: DataView, text: string): boolean {
  const { versionStart, versionEnd } = item;
  if (versionStart === 0 || view.getUint8(versionStart) !== 0x22) return false;
  if (view.getInt32(versionStart + 1) === 0x322e3022) return true; // 2.0"
  return stringAt(text, versionStart, versionEnd) === "2.0";
}

/** What the string between these places says; they include its quotes. */
function stringAt(text: string, start: number, end: number): string {
  const content = text.slice(start + 1, end - 1);
  return finding.hasEscape || finding.hasNonAscii ? decodeString(content) : content;
}
