/** What a call's result has to be: one of these kinds, and equal to a value where one is given. */
export type Expectation = { kinds: readonly ResultKind[]; equals: string | undefined };

/**
 * Kinds of results, in the notation of the Ethereum JSON-RPC specification: a quantity has no leading zeros, data has two
 * digits a byte.
 */
const kindTests = {
  quantity: textOf(/^0x(?:0|[1-9a-f][0-9a-f]*)$/i),
  data: textOf(/^0x(?:[0-9a-f]{2})*$/i),
  hash: textOf(/^0x[0-9a-f]{64}$/i),
  address: textOf(/^0x[0-9a-f]{40}$/i),
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  any: () => true,
} satisfies Record<string, (value: unknown) => boolean>;

export type ResultKind = keyof typeof kindTests;
export const resultKinds = Object.keys(kindTests);

/** Reads `quantity` or `object|null`; `undefined` if a word is not a kind. */
export function readKinds(text: string): ResultKind[] | undefined {
  const kinds: ResultKind[] = [];
  for (const word of text.split("|")) {
    const kind = word.trim();
    if (!isKind(kind)) return undefined;
    kinds.push(kind);
  }
  return kinds;
}

function isKind(word: string): word is ResultKind {
  return Object.hasOwn(kindTests, word);
}

/** Nothing where the result is as expected, else what is wrong with it. */
export function findMismatch(result: unknown, { kinds, equals }: Expectation): string | undefined {
  if (!kinds.some((kind) => kindTests[kind](result))) {
    return `expected ${kinds.join(" or ")}, got ${shown(result)}`;
  }
  if (equals !== undefined && result !== equals) return `expected ${equals}, got ${shown(result)}`;
  return undefined;
}

const shownCharsMax = 100;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

function textOf(pattern: RegExp) {
  return (value: unknown) => typeof value === "string" && pattern.test(value);
}
