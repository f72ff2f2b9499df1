import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { writeAudit } from "../audit-log.ts";
import type { Sealer } from "../secrets/sealer.ts";
import { currentSecret, type Endpoint, findEndpoint } from "./endpoint.ts";
import { createWebhookSecret } from "./webhook-secret.ts";

type Given = { pool: Pick<PostgresPool, "connect">; wallet: string };

/**
 * Gives a webhook a new secret. For a day both sign, so that a receiver can change at any moment of it; who asks once more meanwhile
 * gets another new one, and the old one stays.
 */
export async function rotateSecret({
  sealer,
  ...given
}: Given & { sealer: Sealer }): Promise<{ endpoint: Endpoint; secret: string } | Refusal> {
  const secret = createWebhookSecret();
  const endpoint = await change(given, "webhook.rotated", ({ id }) => ({
    set: `secret_sealed = ${currentSecret}, next_secret_sealed = $2, next_since = now()`,
    values: [sealer.seal(secret, id)],
  }));
  return "refused" in endpoint ? endpoint : { endpoint, secret };
}

/** Ends the overlap: the old secret signs no more. Where there is none, nothing changes. */
export function finishRotation(given: Given): Promise<Endpoint | Refusal> {
  return change(given, "webhook.rotation-finished", () => ({
    set: "secret_sealed = coalesce(next_secret_sealed, secret_sealed), next_secret_sealed = null, next_since = null",
    values: [],
  }));
}

/** Lets a disabled webhook be sent to again. */
export function enableWebhook(given: Given): Promise<Endpoint | Refusal> {
  return change(given, "webhook.enabled", () => ({
    set: "disabled_at = null, disabled_why = null, failing_since = null, dead_events = 0",
    values: [],
  }));
}

function change(
  { pool, wallet }: Given,
  action: string,
  changed: (endpoint: Endpoint) => { set: string; values: unknown[] },
): Promise<Endpoint | Refusal> {
  return transaction(pool, async (db) => {
    const endpoint = await findEndpoint(db, wallet, { lock: true });
    if (endpoint === undefined) return noWebhook;
    const { set, values } = changed(endpoint);
    await db.query({
      text: `update svc.webhook_endpoints e set ${set}, changed_at = clock_timestamp() where e.id = $1`,
      values: [endpoint.id, ...values],
    });
    await writeAudit(db, { wallet, actor: "wallet", action, about: { webhook: endpoint.id } });
    return (await findEndpoint(db, wallet)) ?? noWebhook;
  });
}

export const noWebhook = refusal(
  "not_found",
  "The wallet has no webhook: save a URL first (POST /api/v1/svc-dev/webhooks)",
);
