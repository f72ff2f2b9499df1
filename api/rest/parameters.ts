import { getAddress } from "ethers/address";
import { z } from "zod";

/** Parameters of paths and queries: texts from a URL, checked by their form and turned into values. */

export const pageLimitMax = 100;
export const pageLimitDefault = 20;

const numberText = (what: string) =>
  z.string(`${what} was expected`).regex(/^(?:0|[1-9][0-9]{0,14})$/, `${what} was expected`);

/** A block's number in decimal. */
export const blockNumber = numberText("A block number in decimal")
  .transform(Number)
  .meta({
    ...{ description: "A block's number, in decimal", examples: [1] },
    ...{ type: "integer", minimum: 0, maximum: 999_999_999_999_999 },
  });

const hashExpected = "0x and 64 hexadecimal digits were expected";
export const transactionHash = z
  .string(hashExpected)
  .regex(/^0x[0-9a-fA-F]{64}$/, hashExpected)
  .toLowerCase()
  .meta({ description: "0x and 64 hexadecimal digits", examples: [`0x${"ab".repeat(32)}`] });

const addressExpected = "0x and 40 hexadecimal digits were expected";
/** An address; a checksum that is there has to be right (EIP-55). */
export const accountAddress = z
  .string(addressExpected)
  .regex(/^0x[0-9a-fA-F]{40}$/, addressExpected)
  .refine(hasNoWrongChecksum, "The checksum of the address is wrong: a digit may be mistyped (EIP-55)")
  .transform((text) => getAddress(text.toLowerCase()))
  .meta({
    description: "0x and 40 hexadecimal digits",
    examples: ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],
  });

function hasNoWrongChecksum(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return true;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return getAddress(text.toLowerCase()) === text;
}

const limitExpected = `A number from 1 to ${pageLimitMax} was expected`;
export const limit = z
  .string(limitExpected)
  .regex(/^(?:[1-9]|[1-9][0-9]|100)$/, limitExpected)
  .transform(Number)
  .optional()
  .transform((value) => value ?? pageLimitDefault)
  .meta({
    ...{ description: "Rows of a page", examples: [pageLimitDefault] },
    ...{ type: "integer", minimum: 1, maximum: pageLimitMax, default: pageLimitDefault },
  });

const cursorExpected = "A cursor of this list was expected";
/** Opaque: base64url of where the page before ended. What it says is checked when it is read. */
export const cursor = z
  .string(cursorExpected)
  .regex(/^[A-Za-z0-9_-]{1,120}$/, cursorExpected)
  .optional()
  .meta({ description: "`nextCursor` of the page before" });

export const direction = z
  .enum(["in", "out", "both"], "in, out or both was expected")
  .optional()
  .transform((value) => value ?? "both")
  .meta({ description: "Received, sent, or both" });

export const status = z
  .enum(["success", "failed"], "success or failed was expected")
  .optional()
  .meta({ description: "Only those with this outcome" });

/** A day in UTC. */
export const day = z.iso
  .date("A date was expected: YYYY-MM-DD")
  .optional()
  .meta({ description: "A day in UTC", examples: ["2026-11-22"] });

export const noParameters = z.strictObject({});
export const pageQuery = z.strictObject({ limit, cursor });
