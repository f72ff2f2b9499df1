import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { refuseTooManyChanges, writeAudit } from "../audit-log.ts";
import type { Sealer } from "../secrets/sealer.ts";
import { currentSecret, type Endpoint, findEndpoint } from "./endpoint.ts";
import { createWebhookSecret } from "./webhook-secret.ts";

type Given = { pool: Pick<PostgresPool, "connect">; wallet: string };

/** More than anybody needs; each one is noted for good. */
export const changesPerDayMax = 100;
const actions = [
  "webhook.rotated",
  "webhook.rotation-finished",
  "webhook.enabled",
  "webhook.changed",
] as const;
type Action = (typeof actions)[number];

/**
 * Gives a webhook a new secret. For a day both sign, so that a receiver can change at any moment of it; who asks once more meanwhile
 * gets another new one, and the old one stays. One that cannot be read any more signs nothing: the new one is alone at once.
 */
export async function rotateSecret({
  sealer,
  ...given
}: Given & { sealer: Sealer }): Promise<{ endpoint: Endpoint; secret: string } | Refusal> {
  const secret = createWebhookSecret();
  const endpoint = await change(given, "webhook.rotated", ({ id, currentSealed }) => ({
    set:
      sealer.open(currentSealed, id) === undefined
        ? "secret_sealed = $2, next_secret_sealed = null, next_since = null"
        : `secret_sealed = ${currentSecret}, next_secret_sealed = $2, next_since = now()`,
    values: [sealer.seal(secret, id)],
  }));
  return "refused" in endpoint ? endpoint : { endpoint, secret };
}

/** Ends the overlap: the old secret signs no more. Where there is none, nothing changes. */
export function finishRotation(given: Given): Promise<Endpoint | Refusal> {
  return change(given, "webhook.rotation-finished", ({ nextSealed }) =>
    nextSealed === null
      ? undefined
      : {
          set: "secret_sealed = next_secret_sealed, next_secret_sealed = null, next_since = null",
          values: [],
        },
  );
}

/** Lets a disabled webhook be sent to again. */
export function enableWebhook(given: Given): Promise<Endpoint | Refusal> {
  return change(given, "webhook.enabled", ({ disabledAt, failingSince }) =>
    disabledAt === null && failingSince === null
      ? undefined
      : { set: "disabled_at = null, disabled_why = null, failing_since = null, dead_events = 0", values: [] },
  );
}

/** `changed`: undefined where it is so already, which is no change. */
function change(
  { pool, wallet }: Given,
  action: Action,
  changed: (endpoint: Endpoint) => { set: string; values: unknown[] } | undefined,
): Promise<Endpoint | Refusal> {
  return transaction(pool, async (db) => {
    const endpoint = await findEndpoint(db, wallet, { lock: true });
    if (endpoint === undefined) return noWebhook;
    const update = changed(endpoint);
    if (update === undefined) return endpoint;
    const refused = await noteChange(db, { endpoint, action });
    if (refused !== undefined) return refused;
    await db.query({
      text: `update svc.webhook_endpoints e set ${update.set}, changed_at = clock_timestamp() where e.id = $1`,
      values: [endpoint.id, ...update.values],
    });
    return (await findEndpoint(db, wallet)) ?? noWebhook;
  });
}

/** Notes a change, under the lock of its row; or says why there are no more of them today. */
export async function noteChange(
  db: Pick<Queryable, "query">,
  { endpoint: { id, wallet }, action }: { endpoint: Endpoint; action: Action },
): Promise<Refusal | undefined> {
  const limit = { wallet, actions, perDayMax: changesPerDayMax, what: "a wallet's webhook" };
  const refused = await refuseTooManyChanges(db, limit);
  if (refused === undefined)
    await writeAudit(db, { wallet, actor: "wallet", action, about: { webhook: id } });
  return refused;
}

export const noWebhook = refusal(
  "not_found",
  "The wallet has no webhook: save a URL first (POST /api/v1/svc-dev/webhooks)",
);
