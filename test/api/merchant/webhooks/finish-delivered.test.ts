import t from "tap";
import { claimDeliveries } from "../../../../api/merchant/webhooks/delivery-store.ts";
import { createDeliveredWriter } from "../../../../api/merchant/webhooks/finish-delivered.ts";
import { startOutbox } from "./support/start-outbox.ts";

const outbox = await startOutbox(t);
const { pool } = outbox;
const request = { url: "http://127.0.0.1:9/hook", headers: { "webhook-id": "evt_1" } };
const sent = { request, status: 200, tookMs: 7, error: null, answerStart: "taken", retryAfter: undefined };

/** Endpoints with an event each, which are claimed. */
async function claimFrom(count: number) {
  const endpoints = [];
  for (let made = 0; made < count; made += 1) {
    const endpoint = await outbox.addEndpoint("http://127.0.0.1:9/hook");
    await endpoint.addEvents();
    endpoints.push(endpoint);
  }
  const { claimed } = await claimDeliveries(pool);
  t.equal(claimed.length, count);
  return { endpoints, claimed };
}

t.test("what is delivered at the same time is written down together, each with what it was", async (t) => {
  const { endpoints, claimed } = await claimFrom(5);
  const [failing] = endpoints;
  await outbox.rows("update svc.webhook_endpoints set failing_since = now(), dead_events = 1 where id = $1", [
    failing?.id,
  ]);
  let statements = 0;
  const counting = {
    connect: () => pool.connect(),
    end: () => pool.end(),
    ...{ totalCount: 0, idleCount: 0, waitingCount: 0 },
    query(...given: Parameters<typeof pool.query>) {
      statements += 1;
      return pool.query(...given);
    },
  };
  const writer = createDeliveredWriter({ pool: counting });
  const written = await Promise.all(
    claimed.map((delivery, index) => writer.finish({ delivery, sent: { ...sent, tookMs: index } })),
  );
  t.same(written, [true, true, true, true, true]);
  t.equal(statements, 2, "the first by itself, since nobody waits; the others together");
  for (const [index, { id, deliveries, attempts }] of endpoints.entries()) {
    t.match(await deliveries(), [{ state: "delivered", leased_until: null, last_status: 200 }]);
    const place = claimed.findIndex(({ endpointId }) => endpointId === id);
    t.match(
      await attempts(),
      [{ number: 1, status: 200, took_ms: place, answer_start: "taken", ...request }],
      `${index}`,
    );
  }
  t.same(await failing?.standing(), { disabled_why: null, failing: false, dead_events: 0 });
});

t.test("one that PostgreSQL does not take keeps no other from being written down", async (t) => {
  const { endpoints, claimed } = await claimFrom(4);
  const writer = createDeliveredWriter({ pool });
  const outcomes = await Promise.allSettled(
    claimed.map((delivery, index) =>
      writer.finish({ delivery, sent: { ...sent, answerStart: index === 2 ? "x".repeat(1025) : "" } }),
    ),
  );
  t.same(
    outcomes.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  const states = [];
  for (const { endpointId } of claimed) {
    const endpoint = endpoints.find(({ id }) => id === endpointId);
    for (const { state } of (await endpoint?.deliveries()) ?? []) states.push(state);
  }
  t.same(states, ["delivered", "delivered", "waiting", "delivered"], "it is sent again when its lease ends");
});

t.test("whose lease has ended, and who was tried again since, has no say", async (t) => {
  const { endpoints, claimed } = await claimFrom(2);
  for (const endpoint of endpoints) await endpoint.makeDue();
  const { claimed: again } = await claimDeliveries(pool);
  t.equal(again.length, 2);
  const writer = createDeliveredWriter({ pool });
  const late = await Promise.all(claimed.map((delivery) => writer.finish({ delivery, sent })));
  t.same(late, [false, false]);
  const now = await Promise.all(again.map((delivery) => writer.finish({ delivery, sent })));
  t.same(now, [true, true]);
  for (const endpoint of endpoints) t.match(await endpoint.attempts(), [{ number: 2 }]);
});
