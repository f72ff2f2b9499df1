import type { ScannedCall, ScanResult } from "./scan-result.ts";
import { type BrokenRule, nameBytesMax, numberBytesMax } from "./scan-value.ts";

type Refused = ScanResult & { kind: "refused" };

export const emptyBody = parseError("the body is empty, send a JSON-RPC 2.0 request");
export const byteOrderMark = parseError("the body begins with a byte-order mark, send UTF-8 without one");
export const notUtf8 = parseError("the body is not valid UTF-8");
export const emptyBatch = invalidRequest("the batch is empty, send at least one request");
export const neitherObjectNorArray = invalidRequest("send an object, or an array of objects");

export const notAnObject: ScannedCall = {
  kind: "invalid",
  idText: "null",
  message: "Invalid Request: each item of a batch must be an object",
};

export function textAfterEnd(offset: number): Refused {
  return parseError(
    `text after the end of the request at byte ${offset} of the body, send one object or one array`,
    offset,
  );
}

export function batchTooLong(batchItemsMax: number, offset: number): Refused {
  return invalidRequest(`a batch has at most ${batchItemsMax} items, send the others in another`, offset);
}

/** A rule broken at `offset`. `idText`: of the single request where it was read. */
export function ruleBroken(
  { rule, offset }: { rule: BrokenRule; offset: number },
  { length, depthMax, idText }: { length: number; depthMax: number; idText: string },
): Refused {
  const place = `at byte ${offset} of the body`;
  // The NUL behind the body ends whatever is open there.
  if (offset === length) return parseError(`the body ends too early, at byte ${offset}`, offset);
  switch (rule) {
    case "unexpected":
      return parseError(`unexpected character ${place}`, offset);
    case "control":
      return parseError(`control character in a string ${place}, write it as an escape`, offset);
    case "escape":
      return parseError(`backslash in a string ${place} without one of JSON's escapes behind it`, offset);
    case "surrogate":
      return parseError(`half of a surrogate pair ${place}, write both or the character itself`, offset);
    case "depth":
      return invalidRequest(`nested deeper than ${depthMax} levels ${place}`, offset, idText);
    case "number-length":
      return invalidRequest(`number ${place} is longer than ${numberBytesMax} characters`, offset, idText);
    case "number-range":
      return invalidRequest(`number ${place} is greater than a double can hold`, offset, idText);
    case "name-length":
      return invalidRequest(`member name ${place} is longer than ${nameBytesMax} bytes`, offset, idText);
  }
}

function parseError(what: string, offset?: number): Refused {
  return refused("parse", `Parse error: ${what}`, "null", offset);
}

function invalidRequest(what: string, offset?: number, idText = "null"): Refused {
  return refused("request", `Invalid Request: ${what}`, idText, offset);
}

function refused(
  reason: Refused["reason"],
  message: string,
  idText: string,
  offset: number | undefined,
): Refused {
  const place = offset === undefined ? {} : { offset };
  return { kind: "refused", reason, message, idText, ...place };
}
