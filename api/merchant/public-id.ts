import { randomBytes } from "node:crypto";
import { z } from "zod";
import { base62, readBase62 } from "../../lib/keys/base62.ts";

/** What an id is of, as a client sees it: `ord_` and 22 characters. */
export type IdKind = "ord" | "key" | "inv" | "evt" | "whk";

/** 62^22 is the first power of 62 above 2^128. */
const idChars = 22;
const uuidBits = 128n;

/**
 * A UUID of version 7 (RFC 9562): the time in milliseconds, so that ids sort by it, then 74 random bits, so that none can
 * be counted up to.
 */
export function createUuid({ nowMs, random = randomBytes(10) }: { nowMs: number; random?: Buffer }): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  random.copy(bytes, 6, 0, 10);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(bytes.toString("hex"));
}

/** A UUID as clients see it. */
export function publicId(kind: IdKind, uuid: string): string {
  return `${kind}_${base62(BigInt(`0x${uuid.replaceAll("-", "")}`), idChars)}`;
}

/** An id that a client sends, read into the UUID that it stands for. */
export function idOf(kind: IdKind) {
  const expected = `${kind}_ and ${idChars} letters and digits were expected`;
  return z
    .string(expected)
    .regex(new RegExp(`^${kind}_[0-9A-Za-z]{${idChars}}$`), expected)
    .transform((text, context) => {
      const value = readBase62(text.slice(kind.length + 1));
      if (value !== undefined && value < 2n ** uuidBits) {
        return formatUuid(value.toString(16).padStart(32, "0"));
      }
      context.addIssue(expected);
      return z.NEVER;
    })
    .meta({ description: `The id: ${kind}_ and ${idChars} letters and digits` });
}

function formatUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
