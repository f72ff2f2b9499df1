import { ParsedMessage } from "@spruceid/siwe-parser";

/** What a wallet signed (EIP-4361). Times in ms. */
export type SiweMessage = {
  scheme: string | undefined;
  domain: string;
  /** EIP-55. */
  address: string;
  uri: string;
  version: string;
  chainId: number;
  nonce: string;
  issuedAtMs: number;
  expirationMs: number | undefined;
  notBeforeMs: number | undefined;
};

/**
 * Reads a message by the grammar of EIP-4361. What was read is written again and compared with the text, byte by byte: so
 * nothing that a wallet showed to its owner is left out here, and nothing reads in two ways. Undefined where it is no such message.
 */
export function readSiweMessage(text: string): SiweMessage | undefined {
  const parsed = parse(text);
  if (parsed === undefined || write(parsed) !== text) return undefined;
  const { scheme, domain, address, uri, version, chainId, nonce } = parsed;
  const issuedAtMs = Date.parse(parsed.issuedAt);
  const expirationMs = readTime(parsed.expirationTime);
  const notBeforeMs = readTime(parsed.notBefore);
  // A day that there is, with a leap second that JavaScript has not.
  if ([issuedAtMs, expirationMs, notBeforeMs].some(Number.isNaN)) return undefined;
  return { scheme, domain, address, uri, version, chainId, nonce, issuedAtMs, expirationMs, notBeforeMs };
}

/** The parser throws for what it cannot read, and for some texts also what its own code trips over. */
function parse(text: string): ParsedMessage | undefined {
  try {
    return new ParsedMessage(text);
  } catch {
    return undefined;
  }
}

function readTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

/** The one text that says this. */
function write(parsed: ParsedMessage): string {
  const { scheme, domain, address, statement = "", uri, version, chainId, nonce, issuedAt } = parsed;
  return [
    `${scheme === undefined ? "" : `${scheme}://`}${domain} wants you to sign in with your Ethereum account:`,
    address,
    "",
    // Without a statement both empty lines are there all the same.
    ...(statement === "" ? [] : [statement]),
    "",
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...line("Expiration Time", parsed.expirationTime),
    ...line("Not Before", parsed.notBefore),
    ...line("Request ID", parsed.requestId),
    ...(parsed.resources === undefined
      ? []
      : ["Resources:", ...parsed.resources.map((resource) => `- ${resource}`)]),
  ].join("\n");
}

function line(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${name}: ${value}`];
}
