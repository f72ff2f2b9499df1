import { isUtf8 } from "node:buffer";
import { skipItem, takeCall, takeId } from "./scan-item.ts";
import {
  batchTooLong,
  byteOrderMark,
  emptyBatch,
  emptyBody,
  neitherObjectNorArray,
  notAnObject,
  notUtf8,
  ruleBroken,
  textAfterEnd,
} from "./scan-refusal.ts";
import type { ScanLimits, ScannedCall, ScanResult } from "./scan-result.ts";
import { loadSource, type ScanSource } from "./scan-source.ts";
import { failed, finding, skipBlank, skipValue } from "./scan-value.ts";

/**
 * Proves a body to be JSON (RFC 8259) and finds the calls in it (JSON-RPC 2.0), in one pass over its bytes. What is
 * accepted every parser reads alike: UTF-8 without a byte-order mark, no half surrogate pairs, no doubled members of
 * a request, bounded nesting, numbers and names. Members doubled deeper inside are not looked for: of
 * those the last counts, to `JSON.parse` and to Jackson, which Besu uses.
 *
 * Not re-entrant: the modules of the scanner hold the state of the one scan that is running.
 */
export function scanRequest(body: Uint8Array, limits: ScanLimits): ScanResult {
  const source = loadSource(body);
  finding.hasEscape = false;
  finding.hasNonAscii = false;
  const scanned = scanBody(source, limits);
  // So far any byte above 0x7f was taken inside strings, and none outside.
  return finding.hasNonAscii && !isUtf8(body) ? notUtf8 : scanned;
}

function scanBody(source: ScanSource, limits: ScanLimits): ScanResult {
  const { view, length } = source;
  const start = skipBlank(view, 0);
  switch (view.getUint8(start)) {
    case 0x7b: // {
      return scanSingle(source, start, limits.depthMax);
    case 0x5b: // [
      return scanBatch(source, start, limits);
    case 0xef:
      return start === 0 && view.getUint16(1) === 0xbbbf ? byteOrderMark : scanOther(source, start);
    default:
      return start === length ? emptyBody : scanOther(source, start);
  }
}

function scanSingle(source: ScanSource, start: number, depthMax: number): ScanResult {
  const end = skipItem(source, start, depthMax);
  if (end === failed) return ruleBroken(finding, { length: source.length, depthMax, idText: takeId(source) });
  return refusedTail(source, end) ?? { kind: "single", call: takeCall(source) };
}

function scanBatch(source: ScanSource, start: number, { depthMax, batchItemsMax }: ScanLimits): ScanResult {
  const { view, length } = source;
  const calls: ScannedCall[] = [];
  let at = skipBlank(view, start + 1);
  if (view.getUint8(at) === 0x5d) return refusedTail(source, at + 1) ?? emptyBatch;
  for (;;) {
    // At once, so that a body of a million items costs no more than one of a hundred.
    if (calls.length === batchItemsMax) return batchTooLong(batchItemsMax, at);
    const isObject = view.getUint8(at) === 0x7b;
    const end = isObject ? skipItem(source, at, depthMax - 1) : skipValue(view, at, depthMax - 1);
    if (end === failed) return ruleBroken(finding, { length, depthMax, idText: "null" });
    calls.push(isObject ? takeCall(source) : notAnObject);
    at = skipBlank(view, end);
    const byte = view.getUint8(at);
    if (byte === 0x5d) return refusedTail(source, at + 1) ?? { kind: "batch", calls };
    if (byte !== 0x2c) {
      return ruleBroken({ rule: "unexpected", offset: at }, { length, depthMax, idText: "null" });
    }
    at = skipBlank(view, at + 1);
  }
}

/** A string, a number or a literal alone is JSON (RFC 8259), but no request. */
function scanOther(source: ScanSource, start: number): ScanResult {
  const end = skipValue(source.view, start, 0);
  if (end === failed) return ruleBroken(finding, { length: source.length, depthMax: 0, idText: "null" });
  return refusedTail(source, end) ?? neitherObjectNorArray;
}

/** What stands behind the value, blanks aside, is no part of any JSON text. */
function refusedTail(source: ScanSource, end: number): ScanResult | undefined {
  const at = skipBlank(source.view, end);
  return at === source.length ? undefined : textAfterEnd(at);
}
