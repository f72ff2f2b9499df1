import t from "tap";
import { publicId } from "../../../../api/merchant/public-id.ts";
import { claimDeliveries, finishDelivery } from "../../../../api/merchant/webhooks/delivery-store.ts";
import { plainSignature, standardSignature } from "../../../../api/merchant/webhooks/sign-webhook.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { startOutbox } from "./support/start-outbox.ts";
import { startReceiver } from "./support/start-receiver.ts";

const outbox = await startOutbox(t);
const { pool } = outbox;
/** Seconds from now until the next try. */
const waitOf = async (eventId: string) => {
  const [row] = await outbox.rows(
    "select extract(epoch from next_at - now())::int as seconds from svc.webhook_deliveries where event_id = $1",
    [eventId],
  );
  return Number(row?.["seconds"]);
};
const isNear = (seconds: number, expected: number) => seconds > expected - 60 && seconds <= expected + 60;

t.test("an event arrives as it was written, signed for who holds the secret", async (t) => {
  const receiver = await startReceiver(t);
  const endpoint = await outbox.addEndpoint(receiver.url);
  const [event] = await endpoint.addEvents();
  if (event === undefined) throw new Error("there is one");
  const worker = outbox.startWorker();
  await endpoint.settled("delivered");
  const [got] = receiver.received;
  if (got === undefined) throw new Error("it was received");
  t.equal(got.body, event.body);
  const id = publicId("evt", event.id);
  t.match(JSON.parse(got.body), {
    type: "payment.completed",
    id,
    sequence: 1,
    timestamp: "2030-03-17T17:46:40Z",
  });
  t.match(got.headers, {
    "content-type": "application/json",
    "x-svc-event": "payment.completed",
    "x-svc-signature": plainSignature(endpoint.secret, got.body),
    "webhook-id": id,
  });
  const atUnix = Number(got.headers["webhook-timestamp"]);
  const signed = { secret: endpoint.secret, id, atUnix, body: got.body };
  t.equal(got.headers["webhook-signature"], standardSignature(signed));
  t.match(await endpoint.attempts(), [{ number: 1, status: 204, error: null }]);
  await worker.stop();
});

t.test(
  "what fails is tried again by the schedule, and stands in the log with what was answered",
  async (t) => {
    const receiver = await startReceiver(t);
    receiver.answers((response) => response.writeHead(500).end("out of order"));
    const endpoint = await outbox.addEndpoint(receiver.url);
    const [event] = await endpoint.addEvents();
    const id = event?.id ?? "";
    const worker = outbox.startWorker();
    for (const [index, seconds] of [5, 300, 1800].entries()) {
      await waitFor("it was tried", async () => (await endpoint.attempts()).length === index + 1);
      t.ok(isNear(await waitOf(id), seconds), `${await waitOf(id)} is near ${seconds}`);
      await endpoint.makeDue();
    }
    receiver.answers((response) => response.writeHead(200).end());
    await endpoint.makeDue();
    await endpoint.settled("delivered");
    t.same(await endpoint.standing(), { disabled_why: null, failing: false, dead_events: 0 });
    const attempts = await endpoint.attempts();
    t.match(attempts[0], { status: 500, answer_start: "out of order" });
    t.same(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size, 1, "the id stays");
    t.same(new Set(receiver.received.map(({ body }) => body)).size, 1, "and the body");
    await worker.stop();
  },
);

t.test("after the tenth try it is given up, and two in five days disable the webhook", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answers((response) => response.writeHead(503, { "Retry-After": "7200" }).end());
  const endpoint = await outbox.addEndpoint(receiver.url);
  const [first] = await endpoint.addEvents(1);
  const worker = outbox.startWorker();
  await waitFor("it was tried", async () => (await endpoint.attempts()).length === 1);
  t.ok(isNear(await waitOf(first?.id ?? ""), 3600), "an hour at most");
  await endpoint.addEvents(2);
  await waitFor("all were tried", async () => (await endpoint.attempts()).length === 3);
  await outbox.rows("update svc.webhook_deliveries set tries = 9 where endpoint_id = $1", [endpoint.id]);
  await endpoint.makeDue();
  await endpoint.settled("dead");
  t.same(
    await endpoint.standing(),
    { disabled_why: null, failing: true, dead_events: 3 },
    "not for a bad minute",
  );
  await outbox.rows(
    "update svc.webhook_endpoints set failing_since = now() - interval '5 days' where id = $1",
    [endpoint.id],
  );
  const [last] = await endpoint.addEvents(1);
  await waitFor("it is disabled", async () => (await endpoint.standing())?.["disabled_why"] === "failing");
  const tried = receiver.received.length;
  await endpoint.makeDue();
  await waitFor("what was due is dropped", async () =>
    (await endpoint.deliveries()).some((row) => row["event_id"] === last?.id && row["state"] === "dropped"),
  );
  t.equal((await endpoint.addEvents()).length, 1);
  t.equal((await endpoint.deliveries()).length, 4, "nothing new is queued for it");
  t.equal(receiver.received.length, tried, "and nothing is sent");
  await worker.stop();
});

t.test("410 disables at once", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answers((response) => response.writeHead(410).end());
  const endpoint = await outbox.addEndpoint(receiver.url);
  await endpoint.addEvents();
  const worker = outbox.startWorker();
  await endpoint.settled("dead");
  t.match(await endpoint.standing(), { disabled_why: "gone" });
  await worker.stop();
});

t.test("a receiver that hangs has four at once over all workers, and delays nobody else", async (t) => {
  const [hanging, quick] = [await startReceiver(t), await startReceiver(t)];
  hanging.answers(() => {});
  const slow = await outbox.addEndpoint(hanging.url);
  await slow.addEvents(40);
  const workers = [outbox.startWorker({ timeoutMs: 60_000 }), outbox.startWorker({ timeoutMs: 60_000 })];
  await waitFor("four hang", () => hanging.open.now === 4);
  const other = await outbox.addEndpoint(quick.url);
  await other.addEvents(40);
  await other.settled("delivered");
  t.same([hanging.open.most, quick.received.length], [4, 40]);
  t.ok(quick.open.most <= 4, `${quick.open.most} at once`);
  await Promise.all(workers.map((worker) => worker.stop()));
  t.same(await slow.attempts(), [], "what we broke off is no failure of the receiver");
  await slow.makeDue();
  hanging.answers((response) => response.writeHead(204).end());
  const worker = outbox.startWorker();
  await slow.settled("delivered");
  await worker.stop();
});

t.test("what waits for a receiver that hangs is not read by each claim, however much it is", async (t) => {
  const slow = await outbox.addEndpoint("http://127.0.0.1:9/hook");
  await slow.addEvents(4);
  t.equal((await claimDeliveries(pool)).claimed.length, 4, "as many as an endpoint may have under way");
  const waiting = 20_000;
  await outbox.rows(
    `with written as (
       insert into svc.webhook_events (id, wallet, sequence, type, body)
       select gen_random_uuid(), $1, 10 + number, 'webhook.test', '{}' from generate_series(1, $2) number returning id, sequence)
     insert into svc.webhook_deliveries (event_id, endpoint_id, sequence) select id, $3, sequence from written`,
    [slow.wallet, waiting, slow.id],
  );
  const other = await outbox.addEndpoint("http://127.0.0.1:9/hook");
  await other.addEvents(3);
  // As autovacuum does.
  await outbox.rows("analyze svc.webhook_deliveries");
  let read = 0;
  const counting = {
    async connect() {
      const connection = await pool.connect();
      return {
        release: (destroy?: boolean) => connection.release(destroy),
        async query(...given: Parameters<typeof connection.query>) {
          const [statement] = given;
          if (statement === "commit") {
            // What this transaction has read, by PostgreSQL's own count.
            const { rows } = await connection.query(
              "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relname = 'webhook_deliveries'",
            );
            read = Number(rows[0]?.["read"]);
          }
          return connection.query(...given);
        },
      };
    },
  };
  const { claimed } = await claimDeliveries(counting);
  t.same(new Set(claimed.map(({ endpointId }) => endpointId)), new Set([other.id]));
  t.equal(claimed.length, 3);
  t.ok(read > 0 && read < waiting / 10, `${read} rows were read`);
  for (const { id } of [slow, other]) {
    await outbox.rows("update svc.webhook_deliveries set state = 'dropped' where endpoint_id = $1", [id]);
  }
});

t.test("many workers share what is due, and send nothing twice", async (t) => {
  const receiver = await startReceiver(t);
  const endpoints = [];
  for (let count = 0; count < 10; count += 1) endpoints.push(await outbox.addEndpoint(receiver.url));
  for (const endpoint of endpoints) await endpoint.addEvents(20);
  const workers = Array.from({ length: 4 }, () => outbox.startWorker());
  for (const endpoint of endpoints) await endpoint.settled("delivered");
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  t.same([ids.length, new Set(ids).size], [200, 200]);
  await Promise.all(workers.map((worker) => worker.stop()));
});

t.test(
  "who dies between sending and writing it down leaves it to the next one, with the same id",
  async (t) => {
    const receiver = await startReceiver(t);
    const endpoint = await outbox.addEndpoint(receiver.url);
    await endpoint.addEvents();
    // It never comes back from there, as a process that was killed.
    const dead = Promise.withResolvers<void>();
    const killed = outbox.startWorker({
      // Who is dead claims nothing again.
      ...{ leaseForSeconds: 1, pollMs: 3_600_000 },
      atPoint: (point) => (point === "sent" ? dead.promise : undefined),
    });
    await waitFor("it was sent", () => receiver.received.length === 1);
    const worker = outbox.startWorker();
    await endpoint.settled("delivered");
    const [first, second] = receiver.received;
    t.equal(receiver.received.length, 2);
    t.equal(first?.headers["webhook-id"], second?.headers["webhook-id"]);
    t.equal(first?.body, second?.body);
    const before = await endpoint.deliveries();
    dead.resolve();
    await Promise.all([killed.stop(), worker.stop()]);
    t.same(await endpoint.deliveries(), before, "who comes back late has no say any more");
    t.match(await endpoint.attempts(), [{ number: 2, status: 204 }]);
  },
);

t.test(
  "a delivery is one's until its lease ends, and what came of an earlier try counts no more",
  async (t) => {
    const endpoint = await outbox.addEndpoint("http://127.0.0.1:9/hook");
    await endpoint.addEvents();
    const [mine] = (await claimDeliveries(pool)).claimed;
    if (mine === undefined) throw new Error("there is one");
    t.same(await claimDeliveries(pool), { claimed: [], hasMore: false });
    await endpoint.makeDue();
    const [again] = (await claimDeliveries(pool)).claimed;
    t.same([again?.eventId, again?.attempt], [mine.eventId, mine.attempt + 1]);
    const sent = {
      status: 200,
      tookMs: 1,
      error: null,
      answerStart: "",
      retryAfter: undefined,
      request: null,
    };
    const judgement = { state: "delivered" as const };
    t.notOk(await finishDelivery(pool, { delivery: mine, sent, judgement }));
    t.match(await endpoint.deliveries(), [{ state: "waiting" }]);
    if (again === undefined) throw new Error("there is one");
    t.ok(await finishDelivery(pool, { delivery: again, sent, judgement }));
    t.match(await endpoint.deliveries(), [{ state: "delivered", leased_until: null }]);
  },
);

t.test("PostgreSQL's connections may be ended at any moment: each event arrives all the same", async (t) => {
  const receiver = await startReceiver(t);
  const endpoints = [await outbox.addEndpoint(receiver.url), await outbox.addEndpoint(receiver.url)];
  for (const endpoint of endpoints) await endpoint.addEvents(30);
  const workers = [0, 1].map(() => outbox.startWorker({ leaseForSeconds: 1, retryMinMs: 10 }));
  const goal = 60;
  await waitFor("all have arrived", async () => {
    if (receiver.received.length < goal) {
      await outbox.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'worker' and datname = current_database() order by random() limit 1",
      );
    }
    return new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size === goal;
  });
  for (const endpoint of endpoints) await endpoint.settled("delivered");
  await Promise.all(workers.map((worker) => worker.stop()));
});
