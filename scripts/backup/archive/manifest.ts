import { z } from "zod";
import { sealedSchema } from "./sealed-file.ts";

/** What a backup is, in `manifest.json`: readable without a key, and signed. It holds no secret. */
export type BackupManifest = z.output<typeof manifestSchema>;
export type BackupPart = BackupManifest["parts"][number];
export type PartName = BackupPart["name"];

export const manifestFile = "manifest.json";
/** In the order in which they are taken: what is paid stands on the chain and in PostgreSQL before it is forgotten in Redis. */
export const partNames = ["keys", "redis-faucet", "redis", "postgres", "validator"] as const;

const count = z.int().min(0);
const file = { file: z.string().regex(/^[a-z0-9-]+\.[a-z]+\.zst\.age$/), ...sealedSchema.shape };

const redisFacts = z.strictObject({ server: z.string(), keys: count });
const postgresFacts = z.strictObject({
  serverVersion: z.string(),
  systemIdentifier: z.string().regex(/^\d+$/),
  /** The last migration, and how many there were. */
  migration: z.string(),
  migrations: count,
  /** The first segment of the write-ahead log that a recovery reads. */
  firstSegment: z.string().regex(/^[0-9A-F]{24}$/),
  /** A recovery cannot end before it. */
  finishedAt: z.iso.datetime(),
  /** Rows and sums of just before: what is restored has them all, and perhaps what was booked meanwhile. */
  payments: count,
  orders: count,
  paidWei: z.string().regex(/^\d+$/),
});
const validatorFacts = z.strictObject({
  validator: z.string().regex(/^validator-[1-9]\d*$/),
  /** The last block that it told before it was stopped. */
  height: count,
  /** The version of Besu whose database it is; empty where the node was down. An older one may not open it. */
  besu: z.string().max(100),
});
const keysFacts = z.strictObject({ files: count });

const partSchema = z.discriminatedUnion("name", [
  z.strictObject({ name: z.literal("keys"), ...file, facts: keysFacts }),
  z.strictObject({ name: z.literal("redis"), ...file, facts: redisFacts }),
  z.strictObject({ name: z.literal("redis-faucet"), ...file, facts: redisFacts }),
  z.strictObject({ name: z.literal("postgres"), ...file, facts: postgresFacts }),
  z.strictObject({ name: z.literal("validator"), ...file, facts: validatorFacts }),
]);

export const manifestSchema = z.strictObject({
  format: z.literal("tollgate-backup"),
  formatVersion: z.literal(1),
  id: z.string(),
  takenAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** The version of Tollgate that took it. */
  version: z.string(),
  /** Of the network's folder, where its keys or a validator's data are part. */
  chain: z
    .strictObject({ chainId: z.int().positive(), genesisHash: z.string().regex(/^0x[0-9a-f]{64}$/) })
    .optional(),
  parts: z.array(partSchema).min(1),
});

/** Its folder's name: the time, so that names sort as backups do. */
export function backupId(takenAtMs: number): string {
  return new Date(takenAtMs).toISOString().slice(0, 19).replaceAll(":", "").replaceAll("-", "");
}
