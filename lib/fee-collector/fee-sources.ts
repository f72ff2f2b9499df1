/** Whose fees the platform takes, in the order in which they are told. Each has a signer of its own. */
export const feeSources = [
  "svc_dev",
  "payments",
  "identity",
  "ppob",
  "works",
  "bridge",
  "tournaments",
] as const;

export type FeeSource = (typeof feeSources)[number];

export function isFeeSource(text: string): text is FeeSource {
  return feeSources.some((source) => source === text);
}

/** A source as it stands on chain: its ASCII letters, then zeros, 0x and 64 digits. */
export function sourceBytes(source: string): string {
  return `0x${Buffer.from(source, "ascii").toString("hex").padEnd(64, "0")}`;
}

/** The source that stands on chain; the bytes themselves where they are none of ours. */
export function readSource(bytes: string): string {
  const text = Buffer.from(bytes.slice(2), "hex").toString("latin1").replace(/\0+$/, "");
  return isFeeSource(text) ? text : bytes;
}
