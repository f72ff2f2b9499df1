import { z } from "zod";

/** A node's name, the same in logs, metrics, `/status` and headers, and its address. */
export type NamedUpstream = { name: string; url: string };

const urlExpected = "an address that begins with http:// or https:// was expected, or name=address";
const nameExpected = "a name of letters, digits, dots, dashes and underscores (up to 63) was expected";
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** The text before the first `=` is a name only where the address begins behind it: an address may have a `=`, too. */
const namedPattern = /^([^=:/]*)=(.*)$/s;

const entrySchema = z
  .union([z.string(), z.strictObject({ name: z.string(), url: z.string() })], { error: urlExpected })
  .transform((entry): { name: string | undefined; url: string } => {
    if (typeof entry !== "string") return entry;
    const [, name, url] = namedPattern.exec(entry) ?? [];
    return { name: name?.trim(), url: (url ?? entry).trim() };
  })
  .refine(({ name }) => name === undefined || namePattern.test(name), { error: nameExpected })
  .refine(({ url }) => isHttp(url), { error: urlExpected });

/**
 * Nodes as a list of addresses, `name=address` or `{ name, url }`, or as one text with commas, as in an environment variable.
 * A node without a name gets `prefix` and its place, counted from 1 as on the command line.
 */
export function namedUpstreams({ min, prefix }: { min: number; prefix: string }) {
  return z.preprocess(
    (value) => (typeof value === "string" ? partsOf(value) : value),
    z
      .array(entrySchema)
      .min(min, "at least one validator's address was expected")
      .max(64)
      .transform((list): NamedUpstream[] =>
        list.map(({ name, url }, index) => ({ name: name ?? `${prefix}-${index + 1}`, url })),
      )
      .refine((list) => areDifferent(list.map(({ url }) => url)), "an address stands here twice")
      .refine(
        (list) => areDifferent(list.map(({ name }) => name)),
        `a name stands here twice (one without a name is ${prefix}-1, ${prefix}-2 … by its place)`,
      ),
  );
}

/** The list as one text, which `namedUpstreams` reads. */
export function upstreamsText(list: readonly NamedUpstream[]): string {
  return list.map(({ name, url }) => `${name}=${url}`).join(",");
}

function partsOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}

function areDifferent(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}
