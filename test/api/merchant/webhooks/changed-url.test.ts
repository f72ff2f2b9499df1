import t from "tap";
import { claimDeliveries, finishDelivery } from "../../../../api/merchant/webhooks/delivery-store.ts";
import { startOutbox } from "./support/start-outbox.ts";

const outbox = await startOutbox(t);
const { pool } = outbox;
const before = "http://127.0.0.1:9/before";
const gone = {
  sent: {
    ...{ status: 410, tookMs: 1, error: null, answerStart: "", retryAfter: undefined },
    request: { url: before, headers: {} },
  },
  judgement: { state: "dead" as const, isGone: true },
};

t.test("what the URL of before answers says nothing of the one that it was changed to", async (t) => {
  const endpoint = await outbox.addEndpoint(before);
  await endpoint.addEvents(2);
  const [delivery, other] = (await claimDeliveries(pool)).claimed;
  if (delivery === undefined || other === undefined) throw new Error("there are two");
  await outbox.rows("update svc.webhook_endpoints set url = 'http://127.0.0.1:9/after' where id = $1", [
    endpoint.id,
  ]);
  t.ok(await finishDelivery(pool, { delivery, ...gone }));
  t.same(await endpoint.standing(), { disabled_why: null, failing: false, dead_events: 0 });
  t.match(await endpoint.attempts(), [{ status: 410, url: before }], "it stands in the log");

  await outbox.rows("update svc.webhook_endpoints set url = $2 where id = $1", [endpoint.id, before]);
  t.ok(await finishDelivery(pool, { delivery: other, ...gone }));
  t.match(await endpoint.standing(), { disabled_why: "gone", failing: true, dead_events: 1 });
});
