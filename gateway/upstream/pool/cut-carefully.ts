import { isAscii, isUtf8 } from "node:buffer";
import { readAnswer } from "../../json-rpc/read-answer.ts";
import type { WholeAnswer } from "../upstream-result.ts";

/**
 * The answers of an array by their ids, 1 to `count`, whatever their order, spacing and members. An answer that is missing,
 * there twice or not valid is undefined; all are where the body is not an array of objects.
 */
export function cutArrayCarefully(body: Buffer, count: number): (WholeAnswer | undefined)[] {
  const answers = new Array<WholeAnswer | undefined>(count).fill(undefined);
  const items = itemsOf(body);
  const seen = new Set<number>();
  const start = items === undefined ? -1 : body.indexOf("[");
  if (items === undefined) return answers;
  let at = start + 1;
  for (const item of items) {
    const end = valueEnd(body, at);
    const id = idOf(item);
    if (id !== undefined && id >= 1 && id <= count) {
      answers[id - 1] = seen.has(id) ? undefined : cutLoneCarefully(body.subarray(at, end), id);
      seen.add(id);
    }
    at = end + 1;
  }
  return answers;
}

/** The answer to a call that went alone with this id. */
export function cutLoneCarefully(body: Buffer, id: number): WholeAnswer | undefined {
  const ascii = isAscii(body);
  if (!ascii && !isUtf8(body)) return undefined;
  const answer = readAnswer(body, id);
  return answer === undefined ? undefined : { ...answer, isAscii: ascii, validator: "", wasAtHead: false };
}

/**
 * A single error object without an id: the answer to a body that the validator could not read, or to an array that it
 * refuses as a whole (JSON-RPC 2.0 section 5). For an array it may have any id: some nodes put that of the first call, or 1,
 * and it answers that call no more than the others.
 */
export function cutLoneError(body: Buffer, { isOfArray }: { isOfArray: boolean }): WholeAnswer | undefined {
  const parsed = parse(body);
  if (!isRecord(parsed) || !isRecord(parsed["error"])) return undefined;
  if (parsed["id"] !== null && !isOfArray) return undefined;
  return {
    beforeId: '{"jsonrpc":"2.0","id":',
    afterId: `,"error":${Buffer.from(JSON.stringify(parsed["error"])).toString("latin1")}}`,
    isAscii: false,
    validator: "",
    wasAtHead: false,
  };
}

function itemsOf(body: Buffer): unknown[] | undefined {
  if (!isUtf8(body)) return undefined;
  const parsed = parse(body);
  return Array.isArray(parsed) ? parsed : undefined;
}

function idOf(item: unknown): number | undefined {
  const id = isRecord(item) ? item["id"] : undefined;
  return typeof id === "number" && Number.isInteger(id) ? id : undefined;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The end of the array item that begins at `start`: its comma or bracket. The text is known to be JSON. */
function valueEnd(body: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === 0x22) at = stringEnd(body, at);
    else if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (depth === 0 && (byte === 0x2c || byte === 0x5d)) return at;
    else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return body.length;
}

/** The place of the closing quote. */
function stringEnd(body: Buffer, start: number): number {
  let at = start + 1;
  while (body[at] !== 0x22) at += body[at] === 0x5c ? 2 : 1;
  return at;
}
