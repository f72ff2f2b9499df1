import { keccak256 } from "../../../lib/chain/keccak256.ts";
import { hasLowS, recoverAddress } from "../../../lib/chain/recover-address.ts";
import type { ByteText } from "../../json-rpc/answer.ts";
import { rawTransactionHex } from "./raw-transaction.ts";
import { type RlpItem, readRlpList, rlpListPrefix } from "./rlp-list.ts";

/** `slot` is sender and nonce: at most one of the transactions in it is ever mined. */
export type SentTransaction = { sender: string; slot: string; hash: string };

/**
 * Reads the parameters of `eth_sendRawTransaction`. Undefined for bytes that are not a signed transaction of this chain.
 * Anybody can send one of another chain, and it must not stand in the way of its sender here.
 *
 * It reads only what is needed: validators judge what lists hold. It takes 0.25 ms, 1.3 ms for 128 KiB.
 */
export function readTransaction(
  paramsText: ByteText,
  { chainId }: { chainId: number },
): SentTransaction | undefined {
  const hex = rawTransactionHex(paramsText);
  if (hex === undefined) return undefined;
  // The buffer ends at the first character that is not a hex digit.
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length * 2 !== hex.length) return undefined;
  const first = bytes[0] ?? 0;
  const signed = first >= 0xc0 ? readLegacy(bytes, chainId) : readTyped(bytes, first, chainId);
  if (signed === undefined || !hasLowS(signed.signature)) return undefined;
  const sender = recoverAddress(keccak256(signed.payload), signed.signature);
  if (sender === undefined) return undefined;
  const hash = `0x${Buffer.from(keccak256(bytes)).toString("hex")}`;
  return { sender, slot: `${sender}:${signed.nonce}`, hash };
}

/** `payload` is what was signed, `signature` r, s and v (0 or 1). */
type Signed = { nonce: bigint; payload: Uint8Array; signature: Uint8Array };

/** The kinds of a type's fields. The signature (three numbers) comes behind them. */
type Field = "number" | "receiver" | "account" | "bytes" | "list";
const legacyFields: readonly Field[] = ["number", "number", "number", "receiver", "number", "bytes"];
/** By the first byte: EIP-2930, EIP-1559, EIP-7702. Blob transactions (3) are not offered. */
const typedFields: ReadonlyMap<number, readonly Field[]> = new Map([
  [1, ["number", ...legacyFields, "list"]],
  [2, ["number", "number", ...legacyFields, "list"]],
  [4, ["number", "number", "number", "number", "number", "account", "number", "bytes", "list", "list"]],
]);

function readTyped(bytes: Uint8Array, type: number, chainId: number): Signed | undefined {
  const fields = typedFields.get(type);
  const items = fields === undefined ? undefined : readFields(bytes, 1, fields);
  const [chain, nonce] = items ?? [];
  const signature = items?.slice(-3);
  const [yParity, r, s] = signature ?? [];
  if (chain === undefined || nonce === undefined || yParity === undefined || r === undefined)
    return undefined;
  if (s === undefined || numberOf(bytes, chain) !== BigInt(chainId)) return undefined;
  const body = bytes.subarray(chain.at, yParity.at);
  return {
    nonce: numberOf(bytes, nonce),
    payload: Buffer.concat([Uint8Array.of(type), rlpListPrefix(body.length), body]),
    signature: signatureOf(bytes, { r, s, parity: numberOf(bytes, yParity) }),
  };
}

/** The chain is in v and in the signed bytes (EIP-155), or nowhere: such a transaction is valid on every chain. */
function readLegacy(bytes: Uint8Array, chainId: number): Signed | undefined {
  const [nonce, ...more] = readFields(bytes, 0, legacyFields) ?? [];
  const [v, r, s] = more.slice(-3);
  if (nonce === undefined || v === undefined || r === undefined || s === undefined) return undefined;
  const value = numberOf(bytes, v);
  const protectedV = 35n + 2n * BigInt(chainId);
  const isProtected = value !== 27n && value !== 28n;
  const chain = isProtected
    ? Buffer.concat([rlpNumber(chainId), Uint8Array.of(0x80, 0x80)])
    : new Uint8Array(0);
  const body = bytes.subarray(nonce.at, v.at);
  return {
    nonce: numberOf(bytes, nonce),
    payload: Buffer.concat([rlpListPrefix(body.length + chain.length), body, chain]),
    signature: signatureOf(bytes, { r, s, parity: value - (isProtected ? protectedV : 27n) }),
  };
}

/** The items of a whole transaction, each of its kind. */
function readFields(bytes: Uint8Array, at: number, fields: readonly Field[]): RlpItem[] | undefined {
  const items = readRlpList(bytes, at, fields.length + 3);
  if (items?.length !== fields.length + 3) return undefined;
  return items.every((item, index) => isOf(bytes, item, fields[index] ?? "number")) ? items : undefined;
}

function isOf(bytes: Uint8Array, { isList, start, end }: RlpItem, field: Field): boolean {
  if (isList !== (field === "list")) return false;
  const length = end - start;
  // Numbers have no leading zeros, so 0 has no bytes. The largest, a value, has 32.
  if (field === "number") return length === 0 || (length <= 32 && bytes[start] !== 0);
  if (field === "receiver") return length === 0 || length === 20;
  return field === "account" ? length === 20 : true;
}

function numberOf(bytes: Uint8Array, { start, end }: RlpItem): bigint {
  return start === end ? 0n : BigInt(`0x${Buffer.from(bytes.subarray(start, end)).toString("hex")}`);
}

/** A number as RLP writes it. */
function rlpNumber(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(value);
  const digits = value.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  return Buffer.concat([Uint8Array.of(0x80 + bytes.length), bytes]);
}

/** 65 bytes. A parity that is neither 0 nor 1 becomes a v that no signature has. */
function signatureOf(
  bytes: Uint8Array,
  { r, s, parity }: { r: RlpItem; s: RlpItem; parity: bigint },
): Uint8Array {
  const signature = new Uint8Array(65);
  signature.set(bytes.subarray(r.start, r.end), 32 - (r.end - r.start));
  signature.set(bytes.subarray(s.start, s.end), 64 - (s.end - s.start));
  signature[64] = parity === 0n || parity === 1n ? Number(parity) : 0xff;
  return signature;
}

/** The sender whose next nonce the call asks for, with pending transactions. Undefined for any other call. */
export function pendingCountSender(method: string, paramsText: ByteText): string | undefined {
  if (method !== "eth_getTransactionCount" || !paramsText.includes('"pending"')) return undefined;
  return /^\s*\[\s*"(0x[0-9a-fA-F]{40})"\s*,\s*"pending"\s*\]\s*$/.exec(paramsText)?.[1]?.toLowerCase();
}
