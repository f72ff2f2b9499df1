import type { Answer } from "../call.ts";

/**
 * Cuts a validator's response object around its id, so that the client's can be put there and every other byte stays.
 * Undefined where the bytes are no response object (JSON-RPC 2.0 section 5) to the question with this id.
 */
export function readAnswer(body: Buffer, id: number): Answer | undefined {
  const text = body.toString("latin1");
  if (!isResponse(body, id)) return undefined;
  const usual = `{"jsonrpc":"2.0","id":${id}`;
  if (text.startsWith(usual)) {
    return { beforeId: '{"jsonrpc":"2.0","id":', afterId: text.slice(usual.length).trimEnd() };
  }
  const span = idSpan(text);
  return span === undefined
    ? undefined
    : { beforeId: text.slice(0, span.start).trimStart(), afterId: text.slice(span.end).trimEnd() };
}

function isResponse(body: Buffer, id: number): boolean {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return false;
  }
  if (typeof parsed !== "object" || parsed === null || !("id" in parsed) || parsed.id !== id) return false;
  return "result" in parsed !== ("error" in parsed && parsed.error !== null);
}

/**
 * Where the value of the top-level member `id` stands in the text of an object that is known to be JSON. An object
 * that names `id` twice or with escapes is not looked for: no validator writes that.
 */
function idSpan(text: string): { start: number; end: number } | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      const isName = depth === 1 && /^\s*:/.test(text.slice(end, end + 16));
      if (isName && text.slice(at, end) === '"id"') {
        const value = /^\s*:\s*(-?[0-9]+)/.exec(text.slice(end, end + 64));
        const digits = value?.[1];
        if (value === null || digits === undefined) return undefined;
        const valueEnd = end + value[0].length;
        return { start: valueEnd - digits.length, end: valueEnd };
      }
      at = end - 1;
    } else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
  }
  return undefined;
}

/** The place behind the closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
