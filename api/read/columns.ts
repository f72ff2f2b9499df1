import type { TransferRecord } from "../records/transaction.ts";

/** An address or a hash as a `bytea` column takes it. */
export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}

/** What a column says of a token's standard; null where the token is not known yet. */
export function tokenKindOf(kind: string | null): TransferRecord["token"]["kind"] {
  return kind === "erc20" || kind === "erc721" || kind === "erc1155" ? kind : "unknown";
}
