import { insertEvents } from "../../../../../api/merchant/webhooks/event-store.ts";
import type { Queryable } from "../../../../../lib/postgres/queryable.ts";
import type { Teardown } from "../../../../../scripts/processes/teardown.ts";
import { startEventClient } from "../../../live/support/event-client.ts";
import type { ApiUnderTest } from "../../../support/start-api.ts";
import { buyKey, newcomer } from "../../support/start-shop.ts";

export const eventsPath = "/api/v1/svc-dev/v1/events";

/** A new wallet with a key, which is told of whatever a test writes. */
export async function startTeller(
  t: Teardown,
  shop: { api: ApiUnderTest; db: Queryable },
  request: { package: string; scopes?: readonly string[] } = { package: "monthly" },
) {
  const { wallet, headers } = await newcomer(shop.api);
  const { secret, id } = await buyKey(shop, headers, request);
  const key = { "X-Svc-Dev-Key": secret };
  return {
    ...{ wallet, headers, key, secret, keyId: id },
    /** Events of the wallet, in a transaction as it comes; each is told with its number among them. */
    async tell(count = 1, message = "Told") {
      const events = Array.from({ length: count }, (_, index) => ({
        ...{ wallet, type: "webhook.test" as const, orderId: null, atMs: 1_900_000_000_000 },
        data: { message: `${message} ${index}` },
      }));
      await shop.db.query("begin");
      const written = await insertEvents(shop.db, events);
      await shop.db.query("commit");
      return written;
    },
    list: (query = "", api: Pick<ApiUnderTest, "get"> = shop.api) => api.get(`${eventsPath}${query}`, key),
    listen(query = "", { at = shop.api, ...options }: { at?: { url: string }; lastEventId?: string } = {}) {
      const client = startEventClient(() => `${at.url}${eventsPath}${query}`, {
        ...options,
        headers: { ...key, Accept: "text/event-stream" },
      });
      t.teardown(client.stop);
      return client;
    },
  };
}
