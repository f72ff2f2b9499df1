import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Refusal, refusal } from "./refusal.ts";

export const jsonType = "application/json";
export const formType = "application/x-www-form-urlencoded";

type BodyType = typeof jsonType | typeof formType;

export type BodyReader = ReturnType<typeof createBodyReader>;

/**
 * Reads bodies by their content type: JSON from programs, forms from pages without scripts. Fastify's own parsers are
 * taken out, because their errors have a library's words.
 *
 * `what` begins the sentences that a client is told: "A claim".
 */
export function createBodyReader({ what, types }: { what: string; types: readonly BodyType[] }) {
  const wrongType = refusal("unsupported_media_type", `${what} is sent as ${types.join(" or ")}`);
  const encoded = refusal(
    "unsupported_media_type",
    `${what} is sent as it is, without a Content-Encoding such as gzip`,
  );

  return {
    /** For a body of a type that is not read. */
    wrongType,

    addTo(app: FastifyInstance): void {
      app.removeAllContentTypeParsers();
      for (const type of types) {
        app.addContentTypeParser(type, { parseAs: "string" }, (_request, text, done) => done(null, text));
      }
    },

    /** Why a body in a coding is not read, by a route that reads its body itself. */
    refuseCoding: ({ headers }: FastifyRequest): Refusal | undefined =>
      isEncoded(headers["content-encoding"]) ? encoded : undefined,

    read({ body, headers }: FastifyRequest): { body: unknown } | Refusal {
      if (isEncoded(headers["content-encoding"])) return encoded;
      // There was no body of a type that is read.
      if (typeof body !== "string") return wrongType;
      if (isForm(headers["content-type"])) return { body: readForm(body) };
      try {
        const json: unknown = JSON.parse(body);
        return { body: json };
      } catch {
        return refusal("parse_error", "The body is not valid JSON");
      }
    },
  };
}

export function isForm(contentType: string | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === formType;
}

/** A field that stands there more than once is a list of its values. */
function readForm(text: string): Record<string, string | string[]> {
  const form = new URLSearchParams(text);
  const entries = [...new Set(form.keys())].map((name): [string, string | string[]] => {
    const values = form.getAll(name);
    const [value = ""] = values;
    return [name, values.length > 1 ? values : value];
  });
  return Object.fromEntries(entries);
}

/** A body in a coding (gzip) is not unpacked. */
function isEncoded(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== "identity";
}
