import { answerText, besuErrors, type RpcError } from "./besu-errors.ts";
import { isObject } from "./json.ts";

/** One call as Besu reads it; `idText` is what it will echo, `undefined` for a notification. */
export type RpcCall = { idText: string | undefined; method: string; params: unknown[] };

type RefusedItem = { idText: string; error: RpcError };
export type RpcItem = { call: RpcCall } | { refused: RefusedItem };

export type RpcBody =
  | { kind: "refused"; status: number; text: string }
  | { kind: "single"; item: RpcItem }
  | { kind: "array"; items: RpcItem[] };

const arrayLengthMax = 1_024;

/** A body that came by HTTP: each case below is a recorded one. */
export function readHttpBody(bodyText: string): RpcBody {
  const body = parse(bodyText);
  if (body === null) return refusedBody(200, besuErrors.internal);
  if (Array.isArray(body)) {
    if (body.length === 0) return refusedBody(400, besuErrors.invalidRequest);
    if (body.length > arrayLengthMax) return refusedBody(200, besuErrors.arrayTooLong);
    return { kind: "array", items: body.map(readItem) };
  }
  return isObject(body) ? { kind: "single", item: readItem(body) } : refusedBody(400, besuErrors.parse);
}

/** The same for a WebSocket message, where Besu words its refusals differently. */
export function readWebSocketMessage(messageText: string): RpcBody {
  if (messageText === "") return refusedBody(200, besuErrors.invalidRequest);
  const body = parse(messageText);
  if (Array.isArray(body)) {
    if (body.length > arrayLengthMax) return refusedBody(200, besuErrors.arrayTooLong);
    return { kind: "array", items: body.map(readItem) };
  }
  return isObject(body) ? { kind: "single", item: readItem(body) } : refusedBody(200, besuErrors.internal);
}

/** The text that the error of a whole body has: no id, since none belongs to it. */
export function wholeBodyError(error: RpcError): string {
  return answerText("null", { error });
}

function refusedBody(status: number, error: RpcError): RpcBody {
  return { kind: "refused", status, text: wholeBodyError(error) };
}

function readItem(value: unknown): RpcItem {
  const invalid = (idText: string): RpcItem => ({ refused: { idText, error: besuErrors.invalidRequest } });
  if (!isObject(value)) return invalid("null");

  const idText = Object.hasOwn(value, "id") ? readId(value["id"]) : undefined;
  if (idText === "refused") return invalid("null");
  const { method, params } = value;
  if (typeof method === "number") {
    return { refused: { idText: idText ?? "null", error: besuErrors.methodNotFound } };
  }
  if (typeof method !== "string") return invalid(idText ?? "null");
  if (params !== undefined && params !== null && !Array.isArray(params)) return invalid(idText ?? "null");
  return { call: { idText, method, params: params ?? [] } };
}

function readId(id: unknown): string | "refused" {
  if (isNumberText(id)) return besuNumber(id[sourceText]);
  if (id === null || typeof id === "string" || typeof id === "number") return JSON.stringify(id);
  return "refused";
}

const sourceText = Symbol("source text");

/** A number whose digits `JSON.parse` would lose. */
type NumberText = { [sourceText]: string };

function isNumberText(value: unknown): value is NumberText {
  return typeof value === "object" && value !== null && sourceText in value;
}

const idBeyondDouble = /"id"\s*:\s*-?\d*(?:[.eE]|\d{16})/;

function parse(bodyText: string): unknown {
  try {
    // The reviver is slow, so it only runs where an id needs it.
    return idBeyondDouble.test(bodyText) ? JSON.parse(bodyText, keepIdText) : JSON.parse(bodyText);
  } catch {
    return undefined;
  }
}

// The reviver's third argument carries the number's text (TC39 "JSON.parse source text access").
function keepIdText(key: string, value: unknown, ...rest: { source?: string }[]): unknown {
  const source = rest[0]?.source;
  return key === "id" && typeof value === "number" && source !== undefined ? { [sourceText]: source } : value;
}

/** Besu keeps integers of any length; what has a point or an exponent goes through a Java double (1e3 → 1000.0). */
function besuNumber(source: string): string {
  if (!/[.eE]/.test(source)) return source;
  const value = Number(source);
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) {
    const [digits = "", exponent = "0"] = value.toExponential().split("e");
    return `${digits.includes(".") ? digits : `${digits}.0`}E${Number(exponent)}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
