import { z } from "zod";

export const amountIdrMin = 1000;
export const amountIdrMax = 1_000_000_000;
export const expiresInMinutesDefault = 30;
const expiresInMinutesMin = 5;
const expiresInMinutesMax = 1440;
const redirectUrlCharsMax = 500;

const amountExpected = `A whole number of rupiah from ${amountIdrMin} to ${amountIdrMax} was expected, as a JSON number`;
const minutesExpected = `A whole number of minutes from ${expiresInMinutesMin} to ${expiresInMinutesMax} was expected`;

/** PostgreSQL keeps no NUL, and JSON can hold halves of characters that no text has. `allowed`: what it consists of. */
function textOf({
  max,
  min = 0,
  allowed,
  what,
}: {
  max: number;
  min?: number;
  allowed: RegExp;
  what: string;
}) {
  const expected = `${what} of ${min === 0 ? "at most" : `${min} to`} ${max} characters was expected`;
  const isText = (text: string) => {
    // As PostgreSQL and JSON Schema count: a character beyond the first 65 536 is one.
    const chars = [...text].length;
    return chars >= min && chars <= max && allowed.test(text) && !/\p{Cs}/u.test(text);
  };
  return z.string(expected).refine(isText, expected);
}

const line = /^\P{Cc}*$/u;
const lines = /^(?:\P{Cc}|[\n\r\t])*$/u;

export const reference = textOf({
  max: 80,
  min: 1,
  allowed: line,
  what: "A text without control characters",
});

/** What an invoice is made of. Nothing else may stand there: a mistyped name would be left out without a word. */
export const invoiceBody = z.strictObject({
  amountIdr: z
    .int(amountExpected)
    .min(amountIdrMin, amountExpected)
    .max(amountIdrMax, amountExpected)
    .meta({ description: "Rupiah, whole", examples: [150_000] }),
  customerLabel: textOf({ max: 120, allowed: line, what: "A text without control characters" })
    .optional()
    .meta({ description: "Who the invoice is for", maxLength: 120, examples: ["Ibu Sari"] }),
  note: textOf({ max: 500, allowed: lines, what: "A text" })
    .optional()
    .meta({ description: "What it is for; the customer reads it", maxLength: 500 }),
  reference: reference.optional().meta({
    description: "Your own number of it, once for all of your invoices",
    minLength: 1,
    maxLength: 80,
  }),
  redirectUrl: redirectUrl()
    .optional()
    .meta({ description: "Where the customer goes back to: https, in development http too" }),
  expiresInMinutes: z
    .int(minutesExpected)
    .min(expiresInMinutesMin, minutesExpected)
    .max(expiresInMinutesMax, minutesExpected)
    .optional()
    .meta({ description: "How long the price holds", default: expiresInMinutesDefault }),
});

export type InvoiceBody = z.output<typeof invoiceBody>;

/** A link that a customer follows: of the web alone, since `javascript:` would run on our page, and without a password in it. */
function redirectUrl() {
  const expected = `An address of at most ${redirectUrlCharsMax} characters that begins with https:// was expected, without a name or password in it`;
  return z
    .string(expected)
    .regex(/^https?:\/\/[^\s\\]+$/u, expected)
    .refine((text) => !/\p{Cc}/u.test(text), expected)
    .transform((text, context) => {
      const url = URL.parse(text);
      if (
        url !== null &&
        url.username === "" &&
        url.password === "" &&
        url.href.length <= redirectUrlCharsMax
      )
        return url.href;
      context.addIssue(expected);
      return z.NEVER;
    });
}
