import { Transaction } from "ethers";
import type { ByteText } from "../../call.ts";

/** `slot` is sender and nonce: of all transactions in it one at most is ever mined. */
export type SentTransaction = { sender: string; slot: string; hash: string };

/** Reads the parameters of `eth_sendRawTransaction`. Undefined for bytes that are no signed transaction to us. */
export function readTransaction(paramsText: ByteText): SentTransaction | undefined {
  try {
    const params: unknown = JSON.parse(paramsText);
    const raw: unknown = Array.isArray(params) ? params[0] : undefined;
    if (typeof raw !== "string") return undefined;
    const { from, nonce, hash } = Transaction.from(raw);
    if (from === null || hash === null) return undefined;
    const sender = from.toLowerCase();
    return { sender, slot: `${sender}:${nonce}`, hash };
  } catch {
    return undefined;
  }
}

/** The sender whose next nonce is asked for, pending transactions counted. Undefined for any other question. */
export function pendingCountSender(method: string, paramsText: ByteText): string | undefined {
  if (method !== "eth_getTransactionCount" || !paramsText.includes('"pending"')) return undefined;
  return /^\s*\[\s*"(0x[0-9a-fA-F]{40})"\s*,\s*"pending"\s*\]\s*$/.exec(paramsText)?.[1]?.toLowerCase();
}
