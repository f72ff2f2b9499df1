import { z } from "zod";

/**
 * A node. `validator`: the others of its kind and it decide what the head is, and transactions go there. `replica`: a node of
 * the same network that seals no blocks; it answers reads of blocks that are announced, and nothing is decided by what it says.
 */
export type UpstreamRole = "validator" | "replica";

/**
 * A node's name, the same in logs, metrics, `/status` and headers, and its address. `weight`: how many reads it gets beside the
 * others, which have 1; 0: none while another one is in order.
 */
export type NamedUpstream = { name: string; url: string; weight?: number; role?: UpstreamRole };

const urlExpected = "an address that begins with http:// or https:// was expected, or name=address";
const nameExpected = "a name of letters, digits, dots, dashes and underscores (up to 63) was expected";
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** The text before the first `=` is a name only where the address begins behind it: an address may have a `=`, too. */
const namedPattern = /^([^=:/]*)=(.*)$/s;

type Entry = Omit<NamedUpstream, "name"> & { name: string | undefined };

const weightMax = 1000;
const weightExpected = `a whole number from 0 to ${weightMax} was expected: how many reads it gets beside the others`;

const entryObject = z.strictObject({
  name: z.string(),
  url: z.string(),
  weight: z.int(weightExpected).min(0, weightExpected).max(weightMax, weightExpected).optional(),
  role: z.enum(["validator", "replica"], "validator or replica was expected").optional(),
});

/** Says of an entry with a name and an address what else is wrong with it. */
function entryExpected({ input }: { input?: unknown }): string {
  const isEntry = typeof input === "object" && input !== null && "name" in input && "url" in input;
  return isEntry ? (entryObject.safeParse(input).error?.issues[0]?.message ?? urlExpected) : urlExpected;
}

const entrySchema = z
  .union([z.string(), entryObject], { error: entryExpected })
  .transform((entry): Entry => {
    if (typeof entry !== "string") {
      const { name, url, weight = 1, role } = entry;
      return {
        ...{ name, url },
        ...(weight === 1 ? {} : { weight }),
        ...(role === "replica" ? { role } : {}),
      };
    }
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
        list.map(({ name, ...entry }, index) => ({ name: name ?? `${prefix}-${index + 1}`, ...entry })),
      )
      .refine(
        (list) => min === 0 || list.some(({ role }) => role !== "replica"),
        "one that is a validator was expected among them: replicas follow it",
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
