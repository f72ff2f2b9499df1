import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { KeyRecord } from "../api-keys/api-key.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import type { KeyRequest } from "../orders/key-request.ts";
import { type AnyOrderRecord, type OrderRecord, orderRecord } from "../orders/order-record.ts";
import type { Orders } from "../orders/orders.ts";
import { type PackageName, packageNames, packages } from "../packages.ts";
import { idOf } from "../public-id.ts";

export type KeyPackage = { name: PackageName; days: number; amountWei: string };

export type KeySales = ReturnType<typeof createKeySales>;

/** A wallet has five active keys and twenty open orders; of older ones so many are shown. */
const keysShownMax = 100;
const ordersShownMax = 40;

/** Selling keys as the pages show it: the records that programs get, by the ids that they know. */
export function createKeySales({ orders, keys }: { orders: Orders; keys: ApiKeys }) {
  const offered: KeyPackage[] = packageNames.map((name) => ({
    ...{ name, days: packages[name].days },
    amountWei: String(orders.terms.prices[name]),
  }));

  return {
    packages: offered,
    /** For a webhook's first URL. */
    webhookPriceWei: String(orders.terms.webhookPrice),
    isWebhookPaid: orders.isWebhookPaid,
    activeKeysMax: keys.activeKeysMax,
    keysOf: (wallet: string): Promise<KeyRecord[]> => keys.list(wallet, keysShownMax),

    /** Those that lead somewhere: open and paid ones, newest first. */
    async waitingOrdersOf(wallet: string): Promise<AnyOrderRecord[]> {
      const all = (await orders.list(wallet, ordersShownMax)).map(orders.recordOf);
      return all.filter(({ status }) => status === "open" || status === "paid");
    },

    async order(wallet: string, wanted: KeyRequest): Promise<OrderRecord | Refusal> {
      const refused = await orders.open(wallet, wanted);
      // An order is what is told to who has to pay first.
      const made = orderRecord.safeParse(refused.members?.["order"]);
      return made.success ? made.data : refused;
    },

    /** Another wallet's is none that there is. */
    async findOrder(wallet: string, id: string): Promise<AnyOrderRecord | Refusal> {
      const uuid = idOf("ord").safeParse(id);
      const order = uuid.success ? await orders.findAny(uuid.data) : undefined;
      return order === undefined || order.wallet !== wallet ? missing : orders.recordOf(order);
    },

    /** Issues the key of a paid order, once. */
    async issue(wallet: string, id: string): Promise<{ secret: string } | Refusal> {
      const orderId = idOf("ord").safeParse(id);
      if (!orderId.success) return missing;
      return own(await keys.issue(wallet, { orderId: orderId.data, txHash: undefined }));
    },

    async revoke(wallet: string, id: string): Promise<KeyRecord | Refusal> {
      const keyId = idOf("key").safeParse(id);
      return keyId.success ? own(await keys.revoke(wallet, keyId.data)) : missing;
    },
  };
}

const missing = refusal("not_found", "There is no such thing");

/** Whose it is that is another wallet's is not told. */
function own<Value extends object>(value: Value | Refusal): Value | Refusal {
  return isRefusal(value) && value.refused === "forbidden" ? missing : value;
}
