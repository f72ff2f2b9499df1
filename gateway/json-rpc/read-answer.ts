import type { Answer } from "./answer.ts";

/**
 * Cuts a validator's response object around its id, so that the client's can be put there and every other byte stays.
 * Undefined where the bytes are no response object (JSON-RPC 2.0 section 5) to the question with this id.
 */
export function readAnswer(body: Buffer, id: number): Omit<Answer, "isAscii"> | undefined {
  const text = body.toString("latin1");
  if (!isResponse(body, id)) return undefined;
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
 * Where the value of the top-level member `id` stands in the text of an object that is known to be JSON. Undefined
 * where it is not one plain integer or stands twice: no validator writes that.
 */
function idSpan(text: string): { start: number; end: number } | undefined {
  let found: { start: number; end: number } | undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (depth === 1 && text.slice(at, end) === '"id"') {
        const value = /^\s*:\s*(-?[0-9]+)\s*[,}]/.exec(text.slice(end, end + 64));
        const digits = value?.[1];
        const isName = /^\s*:/.test(text.slice(end, end + 64));
        if (isName && (digits === undefined || found !== undefined)) return undefined;
        if (digits !== undefined) {
          const start = text.indexOf(digits, end);
          found = { start, end: start + digits.length };
        }
      }
      at = end - 1;
    } else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
  }
  return found;
}

/** The place behind the closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
