import { z } from "zod";

/** Values of Ethereum JSON-RPC, checked and turned into ours. Hex stays hex, in lower case. */

/** A quantity that fits a number: a height, a nonce, a status. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,13}$/i)
  .transform((text) => Number.parseInt(text, 16));

/** A quantity of up to 256 bits. */
export const wei = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform((text) => BigInt(text));

export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .toLowerCase();

export const bytes = z
  .string()
  .regex(/^0x(?:[0-9a-f]{2})*$/i)
  .toLowerCase();

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .toLowerCase();

export function hexQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
