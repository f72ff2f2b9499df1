/** Where a page ended: the epoch of the chain and the last row's place in it. */
export type Cursor = { epoch: number; block: number; index: number; item: number };

const version = "1";

/** An opaque text for a URL. It is no secret: whoever makes one up gets rows that are public anyway. */
export function encodeCursor({ epoch, block, index, item }: Cursor): string {
  return Buffer.from([version, epoch, block, index, item].join(".")).toString("base64url");
}

/** Undefined where the text is no cursor. */
export function decodeCursor(text: string): Cursor | undefined {
  const [found, ...parts] = Buffer.from(text, "base64url").toString("latin1").split(".");
  if (found !== version || parts.length !== 4 || !parts.every((part) => /^\d{1,10}$/.test(part)))
    return undefined;
  const [epoch = 0, block = 0, index = 0, item = 0] = parts.map(Number);
  const isInBounds = epoch <= columnMax.int4 && index <= columnMax.int4 && item <= columnMax.int2;
  return isInBounds ? { epoch, block, index, item } : undefined;
}

/** What the columns hold; PostgreSQL refuses more with an error. */
const columnMax = { int2: 2 ** 15 - 1, int4: 2 ** 31 - 1 } as const;
