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
  if (isForm(contentType)) return { body: Object.fromEntries(new URLSearchParams(text)) };
  try {
    const body: unknown = JSON.parse(text);
    return { body };
  } catch {
    return refusal("parse_error", "The body is no JSON text");
  }
}

export function isForm(contentType: string): boolean {
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === formType;
}
