import type { Logger } from "pino";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { readBytes, readNullable, readText } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import type { Sealer } from "../secrets/sealer.ts";
import type { SweepTask } from "../sweep.ts";

/** Webhooks that one transaction looks at. */
const rowsMax = 200;

/**
 * Seals webhooks' secrets under the current key, where an earlier one opens them: they are kept for as long as there is the webhook, and
 * would be lost with that key. All are gone through once, since a process reads its keys when it starts.
 */
export function sealSecretsAnew(
  pool: Pick<PostgresPool, "connect">,
  { sealer, logger }: { sealer: Sealer; logger: Pick<Logger, "info"> },
): SweepTask {
  let after: string | null = null;
  let isDone = !sealer.isKeyChanging;
  let changed = 0;

  return async () => {
    if (isDone) return { hasMore: false };
    const looked = await sealPart(pool, { sealer, after });
    changed += looked.changed;
    after = looked.last ?? after;
    isDone = looked.count < rowsMax;
    if (isDone && changed > 0) {
      logger.info({ webhooks: changed }, "secrets of webhooks are sealed under the current key now");
    }
    return { hasMore: !isDone };
  };
}

/** The webhooks after an id, in the order of their ids. Whoever changes a secret meanwhile waits, or is waited for. */
function sealPart(
  pool: Pick<PostgresPool, "connect">,
  { sealer, after }: { sealer: Sealer; after: string | null },
): Promise<{ count: number; changed: number; last: string | undefined }> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query({
      text: `select id, secret_sealed, next_secret_sealed from svc.webhook_endpoints
        where $1::uuid is null or id > $1 order by id limit $2 for no key update`,
      values: [after, rowsMax],
    });
    let changed = 0;
    for (const row of rows) {
      const id = readText(row, "id");
      const next = readNullable(readBytes, row, "next_secret_sealed");
      const currentAnew = sealer.sealAnew(readBytes(row, "secret_sealed"), id);
      const nextAnew = next === null ? undefined : sealer.sealAnew(next, id);
      if (currentAnew === undefined && nextAnew === undefined) continue;
      changed += 1;
      // `changed_at` stays: to its merchant nothing has changed.
      await db.query({
        text: `update svc.webhook_endpoints set secret_sealed = coalesce($2, secret_sealed),
            next_secret_sealed = coalesce($3, next_secret_sealed) where id = $1`,
        values: [id, currentAnew ?? null, nextAnew ?? null],
      });
    }
    const last = rows.at(-1);
    return { count: rows.length, changed, last: last === undefined ? undefined : readText(last, "id") };
  });
}
