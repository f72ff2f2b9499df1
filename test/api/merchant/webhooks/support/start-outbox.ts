import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { createSealer } from "../../../../../api/merchant/secrets/sealer.ts";
import { createDeliveryWorker } from "../../../../../api/merchant/webhooks/delivery-worker.ts";
import { insertEvents } from "../../../../../api/merchant/webhooks/event-store.ts";
import { isPublicOrLoopback } from "../../../../../api/merchant/webhooks/public-address.ts";
import { createWebhookSender } from "../../../../../api/merchant/webhooks/send-webhook.ts";
import { createWebhookSecret } from "../../../../../api/merchant/webhooks/webhook-secret.ts";
import { createPostgresPool } from "../../../../../lib/postgres/postgres-pool.ts";
import { transaction } from "../../../../../lib/postgres/transaction.ts";
import type { Teardown } from "../../../../../scripts/processes/teardown.ts";
import { insertRow } from "../../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { createDatabase } from "../../../../helpers/postgres.ts";
import { waitFor } from "../../../../helpers/wait-for.ts";
import { beginEpoch, insertWallet, orderRow } from "../../support/rows.ts";

const logger = pino({ level: "silent" });
const sealer = createSealer({ keys: [randomBytes(32)] });

type WorkerOptions = Partial<Parameters<typeof createDeliveryWorker>[0]> & { timeoutMs?: number };

/** A database with webhooks and events, and the workers that a test starts over it. */
export async function startOutbox(t: Teardown) {
  const postgresUrl = await createDatabase(t);
  const connect = (name: string) => createPostgresPool({ url: postgresUrl, name, logger });
  const pool = connect("test");
  t.teardown(() => pool.end());
  await beginEpoch(pool);

  const rows = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;
  return {
    ...{ pool, sealer, rows },

    /** A wallet's webhook, and its events. */
    async addEndpoint(url: string) {
      const wallet = Buffer.from(await insertWallet(pool));
      const order = orderRow(wallet, { kind: "webhook_url" });
      await insertRow(pool, "orders", order);
      const [id, secret] = [randomUUID(), createWebhookSecret()];
      const sealed = sealer.seal(secret, id);
      await insertRow(pool, "webhook_endpoints", {
        id,
        wallet,
        order_id: order.id,
        url,
        secret_sealed: sealed,
      });
      const [row] = await rows("select * from svc.webhook_endpoints where id = $1", [id]);
      return {
        ...{ id, secret, wallet, row },
        /** Events as the ledger writes them. */
        async addEvents(count = 1) {
          const orders = Array.from({ length: count }, () => orderRow(wallet));
          for (const row of orders) await insertRow(pool, "orders", row);
          return transaction(pool, (db) =>
            insertEvents(
              db,
              orders.map(({ id }) => ({
                ...{ wallet: `0x${wallet.toString("hex")}`, type: "payment.completed" as const },
                ...{ data: { n: 1 }, orderId: id, atMs: 1_900_000_000_000 },
              })),
            ),
          );
        },
        deliveries: () =>
          rows("select * from svc.webhook_deliveries where endpoint_id = $1 order by event_id", [id]),
        attempts: () =>
          rows("select * from svc.webhook_attempts where endpoint_id = $1 order by event_id, number", [id]),
        standing: async () =>
          (
            await rows(
              "select disabled_why, failing_since is not null as failing, dead_events from svc.webhook_endpoints where id = $1",
              [id],
            )
          )[0],
        /** As if the next try were due, and every lease over. */
        makeDue: () =>
          rows(
            "update svc.webhook_deliveries set next_at = now(), leased_until = null where endpoint_id = $1 and state = 'waiting'",
            [id],
          ),
        settled: (state: string) =>
          waitFor(`all are ${state}`, async () => {
            const found = await rows("select state from svc.webhook_deliveries where endpoint_id = $1", [id]);
            return found.length > 0 && found.every((row) => row["state"] === state);
          }),
      };
    },

    startWorker({ timeoutMs = 5000, ...options }: WorkerOptions = {}) {
      const own = connect("worker");
      const worker = createDeliveryWorker({
        ...{ pool: own, sealer, logger, now: Date.now, random: () => 0.5, pollMs: 20 },
        sender: createWebhookSender({
          ...{ httpsOnly: false, isAllowed: isPublicOrLoopback, timeoutMs, now: Date.now },
        }),
        ...options,
      });
      worker.start();
      let stopping: Promise<void> | undefined;
      const end = async () => {
        await worker.stop();
        await own.end();
      };
      const stop = () => {
        stopping ??= end();
        return stopping;
      };
      t.teardown(stop);
      return { ...worker, stop };
    },
  };
}
