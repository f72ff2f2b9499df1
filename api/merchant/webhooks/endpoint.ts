import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { type Row, readBytes, readHex, readNullable, readText, readTime } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import type { Sealer } from "../secrets/sealer.ts";
import type { WebhookSecrets } from "./sign-webhook.ts";

/** A wallet's webhook, as the database has it. */
export type Endpoint = {
  /** UUID. */
  id: string;
  /** EIP-55. */
  wallet: string;
  /** UUID. */
  orderId: string;
  url: string;
  currentSealed: Buffer;
  /** While the secret is changed. */
  nextSealed: Buffer | null;
  nextSince: Date | null;
  disabledAt: Date | null;
  disabledWhy: string | null;
  failingSince: Date | null;
  createdAt: Date;
  changedAt: Date;
};

/** So long both secrets are good. */
export const overlapHours = 24;

const isOver = `e.next_since <= now() - interval '${overlapHours} hours'`;
/** The secrets that are good now, of `svc.webhook_endpoints e`: nothing has to run for the old one to end. */
export const secretColumns = `case when ${isOver} then e.next_secret_sealed else e.secret_sealed end as current_sealed,
  case when ${isOver} then null else e.next_secret_sealed end as next_sealed`;
export const currentSecret = `case when ${isOver} then e.next_secret_sealed else e.secret_sealed end`;

const endpointColumns = `e.id, e.wallet, e.order_id, e.url, ${secretColumns},
  case when ${isOver} then null else e.next_since end as next_since,
  e.disabled_at, e.disabled_why, e.failing_since, e.created_at, e.changed_at`;

export function readEndpoint(row: Row): Endpoint {
  return {
    id: readText(row, "id"),
    wallet: checksumAddress(readHex(row, "wallet")),
    orderId: readText(row, "order_id"),
    url: readText(row, "url"),
    currentSealed: readBytes(row, "current_sealed"),
    nextSealed: readNullable(readBytes, row, "next_sealed"),
    nextSince: readNullable(readTime, row, "next_since"),
    disabledAt: readNullable(readTime, row, "disabled_at"),
    disabledWhy: readNullable(readText, row, "disabled_why"),
    failingSince: readNullable(readTime, row, "failing_since"),
    createdAt: readTime(row, "created_at"),
    changedAt: readTime(row, "changed_at"),
  };
}

/** The wallet's webhook; undefined where it has none. `lock`: until the transaction ends nobody else changes it. */
export async function findEndpoint(
  db: Pick<Queryable, "query">,
  wallet: string,
  { lock = false }: { lock?: boolean } = {},
): Promise<Endpoint | undefined> {
  const { rows } = await db.query({
    text: `select ${endpointColumns} from svc.webhook_endpoints e where e.wallet = $1${lock ? " for no key update" : ""}`,
    values: [bytesOf(wallet)],
  });
  return rows.map(readEndpoint)[0];
}

/** Undefined where the key that they were sealed under is not there any more. */
export function openSecrets(
  sealer: Sealer,
  { id, currentSealed, nextSealed }: Pick<Endpoint, "id" | "currentSealed" | "nextSealed">,
): WebhookSecrets | undefined {
  const current = sealer.open(currentSealed, id);
  const next = nextSealed === null ? undefined : sealer.open(nextSealed, id);
  return current === undefined || (nextSealed !== null && next === undefined) ? undefined : { current, next };
}
