import type { ByteText } from "../../json-rpc/answer.ts";

/** Longer ones are left as they are: looking at each byte would cost more than it can save. */
const charsMax = 1024;

/** Nothing of this is in parameters as most clients write them: blanks, escapes, hex in capitals. */
const unusual = /[\t\n\r \\A-F]/;

/** A string, with the colon behind it where it is a member's name; or blanks between tokens. */
const token = /"(?:[^"\\]|\\.)*"(?:[\t\n\r ]*:)?|[\t\n\r ]+/g;

/**
 * One text for parameters that mean the same: without blanks and needless escapes, with hex in lower case. A validator gets
 * this text too, so two calls with one text are the same call, whatever was sent.
 *
 * Hex is a value from "0x" to its end that has hexadecimal digits only: no method of Ethereum depends on its case
 * (the checksum of EIP-55 is for people). Names of members stay, and so does their order: sorting them would need a
 * parsed value, and a client writes them in the same order each time.
 */
export function canonicalParams(text: ByteText): ByteText {
  if (text.length > charsMax || !unusual.test(text)) return text;
  return text.replace(token, canonicalToken);
}

const hexValue = /^"0x[0-9a-fA-F]*"$/;

function canonicalToken(text: string): string {
  if (!text.startsWith('"')) return "";
  if (text.endsWith(":")) return `${text.slice(0, -1).trimEnd()}:`;
  const value = text.includes("\\") ? withoutEscapes(text) : text;
  return hexValue.test(value) ? value.toLowerCase() : value;
}

function withoutEscapes(text: ByteText): ByteText {
  const value: unknown = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
  return Buffer.from(JSON.stringify(value), "utf8").toString("latin1");
}
