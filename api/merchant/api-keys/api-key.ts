import { z } from "zod";
import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import {
  type Row,
  readBytes,
  readHex,
  readNullable,
  readText,
  readTextList,
  readTime,
} from "../../../lib/postgres/row.ts";
import { address, integer } from "../../records/values.ts";
import { type KeyScope, keyScopes } from "../../rest/security.ts";
import { keyPackage } from "../orders/key-request.ts";
import { type PackageName, packageNames } from "../packages.ts";
import { publicId } from "../public-id.ts";
import { moment, timeOf } from "../times.ts";

/** A key that was sold, as the database has it; never its secret. */
export type SoldKey = {
  /** UUID. */
  id: string;
  /** EIP-55. */
  wallet: string;
  orderId: string;
  /** SHA-256 of the secret, 64 hex digits. */
  hash: string;
  hint: string;
  label: string;
  package: PackageName;
  scopes: KeyScope[];
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
};

export const keyColumns =
  "id, wallet, order_id, hash, hint, label, package, scopes, created_at, expires_at, revoked_at, last_used_at";

const scopeList = z.array(z.enum(keyScopes));

export function readSoldKey(row: Row): SoldKey {
  return {
    id: readText(row, "id"),
    wallet: checksumAddress(readHex(row, "wallet")),
    orderId: readText(row, "order_id"),
    hash: readBytes(row, "hash").toString("hex"),
    hint: readText(row, "hint"),
    label: readText(row, "label"),
    package: keyPackage.parse(row["package"]),
    scopes: scopeList.parse(readTextList(row, "scopes")),
    createdAt: readTime(row, "created_at"),
    expiresAt: readTime(row, "expires_at"),
    revokedAt: readNullable(readTime, row, "revoked_at"),
    lastUsedAt: readNullable(readTime, row, "last_used_at"),
  };
}

const keyMembers = {
  id: z.string(),
  wallet: address,
  hint: z.string().meta({ description: "How the secret begins and ends", examples: ["svc_live_…a1B2"] }),
  label: z.string(),
  package: z.enum(packageNames),
  scopes: scopeList,
  state: z.enum(["active", "expired", "revoked"]),
  createdAt: moment,
  createdAtUnix: integer,
  expiresAt: moment,
  expiresAtUnix: integer,
  revokedAt: moment.nullable(),
  revokedAtUnix: integer.nullable(),
  lastUsedAt: moment.nullable().meta({ description: "To the minute" }),
  lastUsedAtUnix: integer.nullable(),
  orderId: z.string(),
};

export const keyRecord = z
  .strictObject(keyMembers)
  .meta({ id: "ApiKey", description: "A key that was bought" });

export const newKeyRecord = z
  .strictObject({
    ...keyMembers,
    secret: z.string().meta({ description: "What the developer API takes. It is shown once: keep it" }),
  })
  .meta({ id: "NewApiKey", description: "A key that was bought, with its secret" });

export type KeyRecord = z.output<typeof keyRecord>;

export function keyRecordOf(key: SoldKey, nowMs: number): KeyRecord {
  const [created, expires] = [timeOf(key.createdAt), timeOf(key.expiresAt)];
  const revoked = key.revokedAt === null ? null : timeOf(key.revokedAt);
  const used = key.lastUsedAt === null ? null : timeOf(key.lastUsedAt);
  return {
    id: publicId("key", key.id),
    wallet: key.wallet,
    hint: key.hint,
    label: key.label,
    package: key.package,
    scopes: key.scopes,
    state: key.revokedAt !== null ? "revoked" : key.expiresAt.getTime() <= nowMs ? "expired" : "active",
    createdAt: created.text,
    createdAtUnix: created.unix,
    expiresAt: expires.text,
    expiresAtUnix: expires.unix,
    revokedAt: revoked?.text ?? null,
    revokedAtUnix: revoked?.unix ?? null,
    lastUsedAt: used?.text ?? null,
    lastUsedAtUnix: used?.unix ?? null,
    orderId: publicId("ord", key.orderId),
  };
}
