import { z } from "zod";

/**
 * The values that records are made of, as JSON has them. Large integers are decimal strings, because a number of
 * JavaScript ends at 2^53; hashes are lower case; addresses have the checksum of EIP-55.
 */

/** A block or transaction hash: 32 bytes. */
export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({
    id: "Hash",
    description: "32 bytes in lower case hexadecimal",
    examples: [`0x${"ab".repeat(32)}`],
  });

/** An address with the checksum of EIP-55. */
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({
    id: "Address",
    description: "20 bytes in hexadecimal, with the checksum of EIP-55",
    examples: ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],
  });

/** Bytes of any length. */
export const bytes = z
  .string()
  .regex(/^0x(?:[0-9a-f]{2})*$/)
  .meta({ id: "Bytes", description: "Bytes in lower case hexadecimal", examples: ["0x"] });

/** Wei, gas or the smallest unit of a token. */
export const amount = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,77})$/)
  .meta({
    id: "Amount",
    description: "A whole number as decimal text: wei, gas, or a token's smallest unit",
    examples: ["10000000000000000000"],
  });

/** A block's number, an index, a nonce, a size: it stays below 2^53. */
export const integer = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** When a block was made. Both are there, so that nobody has to convert. */
export const times = {
  timestamp: z.iso.datetime().meta({ description: "ISO 8601, UTC", examples: ["2026-11-22T12:00:00Z"] }),
  timestampUnix: integer.meta({ description: "Seconds since 1970-01-01 00:00 UTC" }),
};

/** A block's time in both forms. */
export function timesOf(unixSeconds: number): { timestamp: string; timestampUnix: number } {
  return {
    timestamp: new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z"),
    timestampUnix: unixSeconds,
  };
}

/** One page of a list. */
export function listOf<Row extends z.ZodType>(id: string, row: Row) {
  return z
    .strictObject({
      data: z.array(row),
      nextCursor: z
        .string()
        .nullable()
        .meta({ description: "Give it as `cursor` for the next page; null at the end" }),
      indexedBlock: integer
        .nullable()
        .meta({ description: "Up to which block the list is complete; null before the first" }),
    })
    .meta({ id });
}
