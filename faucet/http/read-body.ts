import { type Refusal, refusal } from "../refusal.ts";

export const formType = "application/x-www-form-urlencoded";

export const wrongType = refusal(
  "unsupported_media_type",
  `A claim is sent as application/json or ${formType}`,
);

/**
 * A body by its content type: JSON from programs, a form from the page without scripts. `text` is no string where there
 * was no body of a type that the server reads.
 */
export function readBody({
  text,
  contentType,
}: {
  text: unknown;
  contentType: string;
}): { body: unknown } | Refusal {
  if (typeof text !== "string") return wrongType;
  if (isForm(contentType)) return { body: readForm(text) };
  try {
    const body: unknown = JSON.parse(text);
    return { body };
  } catch {
    return refusal("parse_error", "The body is no JSON text");
  }
}

/** A field that stands there more than once is a list of its values, which is neither an address nor an empty honeypot. */
function readForm(text: string): Record<string, string | string[]> {
  const form = new URLSearchParams(text);
  const entries = [...new Set(form.keys())].map((name): [string, string | string[]] => {
    const values = form.getAll(name);
    const [value = ""] = values;
    // Browsers send what was pasted, blanks and all.
    return [name, values.length > 1 ? values : name === "address" ? value.trim() : value];
  });
  return Object.fromEntries(entries);
}

/** A body in a coding (gzip) is not unpacked. */
export function isEncoded(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== "identity";
}

export const encodedBody = refusal(
  "unsupported_media_type",
  "A claim is sent as it is, without a Content-Encoding such as gzip",
);

export function isForm(contentType: string): boolean {
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === formType;
}
