import t from "tap";
import { replayEvent, replaySince } from "../../../../api/merchant/webhooks/delivery-log.ts";
import {
  attemptsKeptMax,
  claimDeliveries,
  finishDelivery,
} from "../../../../api/merchant/webhooks/delivery-store.ts";
import { createDeliveredWriter } from "../../../../api/merchant/webhooks/finish-delivered.ts";
import { transaction } from "../../../../lib/postgres/transaction.ts";
import { startOutbox } from "./support/start-outbox.ts";

const outbox = await startOutbox(t);
const { pool } = outbox;
const url = "http://127.0.0.1:9/hook";
const sent = { tookMs: 1, answerStart: "", retryAfter: undefined, request: { url, headers: {} } };

t.test("waits for none that is under way, nor leaves another one out for it", async (t) => {
  const endpoint = await outbox.addEndpoint(url);
  await endpoint.addEvents(6);
  const { claimed } = await claimDeliveries(pool);
  t.equal(claimed.length, 4, "as many as an endpoint may have under way");
  const what = { endpoint: { id: endpoint.id, wallet: `0x${endpoint.wallet.toString("hex")}` } };
  await transaction(pool, async (db) => {
    // As a worker that writes down what it has delivered and is not done with all of it.
    await db.query({
      text: "select from svc.webhook_deliveries where event_id = any($1::uuid[]) for update",
      values: [claimed.map(({ eventId }) => eventId)],
    });
    t.match(await replaySince(pool, { ...what, since: new Date(0) }), { replayed: 2, hasMore: false });
    t.match(await replayEvent(pool, { ...what, eventId: claimed[0]?.eventId ?? "" }), { replayed: 0 });
  });
  await endpoint.makeDue();
  t.match(await replaySince(pool, { ...what, since: new Date(0) }), { replayed: 6 }, "their leases are over");
  await outbox.rows("update svc.webhook_deliveries set state = 'dropped'");
});

t.test("however often an event is sent again, its last tries are kept and no more", async (t) => {
  const endpoint = await outbox.addEndpoint(url);
  const [event] = await endpoint.addEvents();
  const what = { endpoint: { id: endpoint.id, wallet: `0x${endpoint.wallet.toString("hex")}` } };
  const writer = createDeliveredWriter({ pool });
  for (let tried = 1; tried <= attemptsKeptMax + 4; tried += 1) {
    await replayEvent(pool, { ...what, eventId: event?.id ?? "" });
    const [delivery] = (await claimDeliveries(pool)).claimed;
    if (delivery === undefined) throw new Error("it is due");
    const isWritten =
      tried % 2 === 0
        ? await writer.finish({ delivery, sent: { ...sent, status: 200, error: null } })
        : await finishDelivery(pool, {
            delivery,
            sent: { ...sent, status: 500, error: null },
            judgement: { state: "waiting", againAfterMs: 1000 },
          });
    t.ok(isWritten);
    const numbers = (await endpoint.attempts()).map((row) => row["number"]);
    t.same([numbers[0], numbers.at(-1)], [Math.max(1, tried - attemptsKeptMax + 1), tried]);
  }
});
