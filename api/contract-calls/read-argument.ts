import type { ParamType } from "ethers/abi";
import { getAddress } from "ethers/address";

/** What was expected of an argument that cannot be used; `bytes` and numbers say how large. */
export type Expected =
  | { expected: "address" | "checksum" | "bool" | "list" | "unsafe" }
  | { expected: "bytes"; length: number | undefined }
  | { expected: "integer"; from: bigint; to: bigint }
  | { expected: "items"; count: number };

type Read = { value: unknown } | Expected;

/**
 * An argument as it stands in a form: addresses, numbers, texts and bytes as they are, arrays and tuples as JSON. What
 * comes out can be encoded as `type`.
 */
export function readArgument(type: ParamType, text: string): Read {
  if (!type.isArray() && !type.isTuple()) return readPlain(type, text);
  try {
    return readNested(type, JSON.parse(text));
  } catch {
    return { expected: "list" };
  }
}

function readNested(type: ParamType, value: unknown): Read {
  if (type.isArray()) {
    if (!Array.isArray(value)) return { expected: "list" };
    if (type.arrayLength !== -1 && value.length !== type.arrayLength)
      return { expected: "items", count: type.arrayLength };
    return readAll(value.map((item) => ({ type: type.arrayChildren, value: item })));
  }
  if (type.isTuple()) {
    const { components } = type;
    const items: unknown = Array.isArray(value) ? value : itemsOf(components, value);
    if (!Array.isArray(items)) return { expected: "list" };
    if (items.length !== components.length) return { expected: "items", count: components.length };
    return readAll(components.map((component, index) => ({ type: component, value: items[index] })));
  }
  // JSON's numbers lose digits beyond this; they have to be texts.
  if (typeof value === "number" && !Number.isSafeInteger(value)) return { expected: "unsafe" };
  return readPlain(type, String(value));
}

function readAll(items: readonly { type: ParamType; value: unknown }[]): Read {
  const values: unknown[] = [];
  for (const { type, value } of items) {
    const read = readNested(type, value);
    if (!("value" in read)) return read;
    values.push(read.value);
  }
  return { value: values };
}

/** A tuple's members by their names. */
function itemsOf(components: readonly ParamType[], value: unknown): unknown[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = new Map(Object.entries(value));
  return components.every(({ name }) => members.has(name))
    ? components.map(({ name }) => members.get(name))
    : undefined;
}

function readPlain({ type }: ParamType, text: string): Read {
  const [, kind = "", size = ""] = /^(address|bool|string|bytes|u?int)(\d*)$/.exec(type) ?? [];
  if (kind === "string") return { value: text };
  const trimmed = text.trim();
  if (kind === "address") return readAddress(trimmed);
  if (kind === "bool") return readBool(trimmed);
  if (kind === "bytes") return readBytes(trimmed, size === "" ? undefined : Number(size));
  return readInteger(trimmed, { bits: Number(size || "256"), isSigned: kind === "int" });
}

function readAddress(text: string): Read {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return { expected: "address" };
  try {
    return { value: getAddress(text) };
  } catch {
    return { expected: "checksum" };
  }
}

const bools: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
  ["1", true],
  ["0", false],
]);

function readBool(text: string): Read {
  const found = bools.get(text.toLowerCase());
  return found === undefined ? { expected: "bool" } : { value: found };
}

function readBytes(text: string, length: number | undefined): Read {
  const isWhole = /^0x(?:[0-9a-fA-F]{2})*$/.test(text);
  if (!isWhole || (length !== undefined && text.length !== 2 + 2 * length))
    return { expected: "bytes", length };
  return { value: text };
}

function readInteger(text: string, { bits, isSigned }: { bits: number; isSigned: boolean }): Read {
  const [from, to] = isSigned
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  // 78 digits have 256 bits.
  const isNumber = /^(?:-?\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text);
  const value = isNumber ? BigInt(text) : undefined;
  if (value === undefined || value < from || value > to) return { expected: "integer", from, to };
  return { value };
}
