/** Where a page of a wallet's invoices ended: by when they were made, newest first. */
export type ListCursor = { createdAtMicros: bigint; id: string };

const version = "1";

/** An opaque text for a URL. It is no secret: whoever makes one up gets rows of their own wallet. */
export function encodeListCursor({ createdAtMicros, id }: ListCursor): string {
  return Buffer.from([version, createdAtMicros, id].join(".")).toString("base64url");
}

/** Undefined where the text is no cursor. */
export function decodeListCursor(text: string): ListCursor | undefined {
  const match = /^1\.(\d{1,16})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
    Buffer.from(text, "base64url").toString("latin1"),
  );
  const [, micros = "", id = ""] = match ?? [];
  return match === null ? undefined : { createdAtMicros: BigInt(micros), id };
}
