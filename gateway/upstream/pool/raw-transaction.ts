import type { ByteText } from "../../json-rpc/answer.ts";
import { findParam, found } from "../../methods/block-parameter/find-param.ts";

/**
 * The text of the first parameter of `eth_sendRawTransaction`, which should be hex digits. Undefined where it is not a
 * string. The prefix 0x may be missing: Besu accepts that too.
 */
export function rawTransactionHex(paramsText: ByteText): string | undefined {
  if (findParam(paramsText, 0) !== "there" || paramsText.charCodeAt(found.start) !== quote) return undefined;
  const text = paramsText.slice(found.start + 1, found.end - 1);
  // Nobody writes hex with escapes. But it is JSON, and a validator would read it.
  const raw = text.includes("\\") ? unescaped(text) : text;
  return raw.startsWith("0x") ? raw.slice(2) : raw;
}

function unescaped(text: ByteText): string {
  const raw: unknown = JSON.parse(Buffer.from(`"${text}"`, "latin1").toString("utf8"));
  return String(raw);
}

const quote = 0x22;
