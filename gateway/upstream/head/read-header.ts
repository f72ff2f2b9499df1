/** A block's header as a validator sent it. `block` is the object as it was written, members and order unchanged. */
export type Header = {
  number: bigint;
  hash: string;
  parentHash: string;
  block: Readonly<Record<string, unknown>>;
};

/** Undefined where the value is not a block with number, hash and parent. Hashes become lower case. */
export function readHeader(value: unknown): Header | undefined {
  if (!isRecord(value)) return undefined;
  const number = readQuantity(value["number"]);
  const hash = readHash(value["hash"]);
  const parentHash = readHash(value["parentHash"]);
  if (number === undefined || hash === undefined || parentHash === undefined) return undefined;
  return { number, hash, parentHash, block: value };
}

/** A JSON-RPC quantity of up to 64 bits: 0x, no leading zeros (Ethereum JSON-RPC, "hex value encoding"). */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === "string" && /^0x(0|[1-9a-f][0-9a-f]{0,15})$/i.test(value)
    ? BigInt(value)
    : undefined;
}

/** 32 bytes in hex, in lower case. */
export function readHash(value: unknown): string | undefined {
  return typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
