import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { publicId } from "../public-id.ts";
import type { Sealer } from "../secrets/sealer.ts";
import { noWebhook } from "./change-webhook.ts";
import { finishDelivery, leaseSeconds } from "./delivery-store.ts";
import { type Endpoint, findEndpoint, openSecrets } from "./endpoint.ts";
import { insertEvents, type WrittenEvent } from "./event-store.ts";
import { judgeAttempt } from "./judge-attempt.ts";
import type { SendWebhook, SentWebhook } from "./send-webhook.ts";

const message = "This is a test of your webhook. Nothing was paid.";

/**
 * Sends a `webhook.test` at once, also to a webhook that is disabled, and tells what came of it. It is tried this once, and says
 * nothing of how the webhook does.
 */
export async function testWebhook({
  pool,
  wallet,
  send,
  sealer,
  now,
}: {
  pool: Pick<PostgresPool, "connect">;
  wallet: string;
  send: SendWebhook;
  sealer: Sealer;
  now: () => number;
}): Promise<{ event: WrittenEvent; sent: SentWebhook } | Refusal> {
  const begun = await transaction(pool, async (db) => {
    const endpoint = await findEndpoint(db, wallet);
    if (endpoint === undefined) return noWebhook;
    const [event] = await insertEvents(db, [
      { wallet, type: "webhook.test", data: { message }, orderId: null, atMs: now() },
    ]);
    if (event === undefined) throw new Error("an event was not written");
    // As a worker would have claimed it, so that none of them does.
    await db.query({
      text: `insert into svc.webhook_deliveries (event_id, endpoint_id, sequence, attempts, tries, next_at, leased_until)
        values ($1, $2, $3, 1, 1, now() + make_interval(secs => $4), now() + make_interval(secs => $4))`,
      values: [event.id, endpoint.id, String(event.sequence), leaseSeconds],
    });
    return { endpoint, event };
  });
  if (isRefusal(begun)) return begun;
  const { endpoint, event } = begun;
  const sent = await sendTest({ endpoint, event, send, sealer });
  if (isRefusal(sent)) return sent;
  // One more than the schedule has: it is not tried again.
  const { state } = judgeAttempt({ ...sent, tries: Number.MAX_SAFE_INTEGER, nowMs: now(), random: () => 0 });
  await finishDelivery(pool, {
    delivery: { eventId: event.id, endpointId: endpoint.id, attempt: 1, url: endpoint.url },
    judgement: state === "delivered" ? { state } : { state: "dead", isGone: false },
    sent,
    isTest: true,
  });
  return { event, sent };
}

async function sendTest({
  endpoint,
  event: { id, type, body },
  send,
  sealer,
}: {
  endpoint: Endpoint;
  event: WrittenEvent;
  send: SendWebhook;
  sealer: Sealer;
}): Promise<SentWebhook | Refusal> {
  const secrets = openSecrets(sealer, endpoint);
  return secrets === undefined
    ? secretLost
    : send({ url: endpoint.url, id: publicId("evt", id), type, body, secrets });
}

const secretLost = refusal(
  "service_unavailable",
  "The webhook's secret cannot be read any more: rotate it (POST /api/v1/svc-dev/webhooks/rotate)",
);
