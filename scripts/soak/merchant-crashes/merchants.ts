import { randomBytes, randomUUID } from "node:crypto";
import { developmentSealingKey } from "../../../api/merchant/secrets/read-sealing-keys.ts";
import { createSealer } from "../../../api/merchant/secrets/sealer.ts";
import { enableWebhook } from "../../../api/merchant/webhooks/change-webhook.ts";
import { replaySince } from "../../../api/merchant/webhooks/delivery-log.ts";
import { findEndpoint } from "../../../api/merchant/webhooks/endpoint.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { insertRow } from "./insert-row.ts";
import { startCrashReceiver } from "./receiver.ts";
import type { Shop } from "./shop.ts";

/** A wallet that is paid by invoices and told of it. */
export type CrashMerchant = {
  wallet: Buffer;
  secret: string;
  receiver: Awaited<ReturnType<typeof startCrashReceiver>>;
  /** It was enabled, and has not had all sent again: PostgreSQL may go between the two. */
  wantsReplay: boolean;
};

const orderSeconds = 1_000_000;

/** Wallets with a webhook each. The first one's receiver answers 410 until its merchant is told that it is disabled. */
export async function openMerchants(
  t: Teardown,
  {
    db,
    shop,
    seed,
    count,
    nowUnix,
  }: { db: PostgresPool; shop: Shop; seed: number; count: number; nowUnix: number },
): Promise<CrashMerchant[]> {
  const sealer = createSealer({ keys: [developmentSealingKey] });
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const receiver = await startCrashReceiver(t, { seed: seed * 10 + index, closed: index === 0 });
      const wallet = randomBytes(20);
      const { orderId } = await shop.webhookOrder({ wallet, validUntil: nowUnix + orderSeconds });
      const [id, secret] = [randomUUID(), `whsec_${randomBytes(32).toString("base64")}`];
      await insertRow(db, "webhook_endpoints", {
        ...{ id, wallet, order_id: orderId, url: receiver.url, secret_sealed: sealer.seal(secret, id) },
      });
      return { wallet, secret, receiver, wantsReplay: false };
    }),
  );
}

/** What a merchant does whose webhook was disabled: mends the receiver, enables it, and has all events sent again. */
export async function mendDisabled(pool: PostgresPool, merchants: readonly CrashMerchant[]): Promise<void> {
  for (const merchant of merchants) {
    const { wallet, receiver } = merchant;
    const address = `0x${wallet.toString("hex")}`;
    const endpoint = await findEndpoint(pool, address);
    if (endpoint === undefined) continue;
    if (endpoint.disabledAt !== null) {
      merchant.wantsReplay = true;
      receiver.open();
      await enableWebhook({ pool, wallet: address });
    }
    if (!merchant.wantsReplay) continue;
    await replaySince(pool, { endpoint, since: new Date(0) });
    merchant.wantsReplay = false;
  }
}
