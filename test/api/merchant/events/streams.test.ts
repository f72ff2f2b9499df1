import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { z } from "zod";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import type { EventClient } from "../../live/support/event-client.ts";
import type { ApiUnderTest } from "../../support/start-api.ts";
import { send } from "../support/sign-in.ts";
import { buyKey, keysPath, startShop } from "../support/start-shop.ts";
import { eventsPath, startTeller } from "./support/start-teller.ts";

const shop = await startShop(t, {
  replicas: 2,
  change: (config) => ({
    ...config,
    limits: { ...config.limits, points: 100_000 },
    live: { ...config.live, heartbeatMs: 300 },
    svcDev: { ...config.svcDev, events: { clientsMax: 8, perAddressMax: 7, perWalletMax: 3 } },
  }),
});
const { api, apis, db } = shop;

const status = z.looseObject({ eventStreams: z.number() });
const streamsOf = async ({ opsUrl }: Pick<ApiUnderTest, "opsUrl"> = api) =>
  status.parse(await (await fetch(`${opsUrl}/status`)).json()).eventStreams;
const told = ({ events }: EventClient) =>
  events.filter(({ name }) => name !== "begin").map(({ id }) => Number(id));
const beginnings = ({ events }: EventClient) =>
  events.filter(({ name }) => name === "begin").map(({ data }) => JSON.parse(data));
const hasBegun = (client: EventClient) => waitFor("it has begun", () => beginnings(client).length > 0);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
t.afterEach(() => waitFor("none is left open", async () => (await streamsOf()) === 0));

t.test("events come as they are written, each once and in order, with the bytes of a webhook", async (t) => {
  const teller = await startTeller(t, shop);
  const before = await teller.tell(2);
  const all = teller.listen();
  const fresh = teller.listen("?after=latest");
  await hasBegun(fresh);
  await waitFor("those before are told", () => told(all).length === 2);
  const written = [...before, ...(await teller.tell(3)), ...(await teller.tell(1))];
  await waitFor("all are told", () => told(all).length === 6 && told(fresh).length === 4);
  t.same(told(all), range(1, 6));
  t.same(told(fresh), range(3, 6));
  t.same(
    all.events.slice(1).map(({ name, data }) => [name, data]),
    written.map(({ type, body }) => [type, body]),
  );
  t.same(beginnings(all), [{ after: 0, latest: 2, removedUpTo: null }]);
  t.same(beginnings(fresh), [{ after: 2, latest: 2, removedUpTo: null }]);
  t.equal(fresh.events[0]?.id, "2", "so that a connection lost before the first event loses none");
  await waitFor("it is still there", () => all.lines.includes(": still here"));
  all.stop();
  fresh.stop();
});

t.test("who comes back goes on after what it saw, at any process", async (t) => {
  const teller = await startTeller(t, shop);
  await teller.tell(6);
  for (const at of apis) {
    const behind = teller.listen("?after=2", { at, lastEventId: "4" });
    await waitFor("it has the rest", () => told(behind).length === 2);
    t.same(told(behind), [5, 6]);
    behind.stop();
  }
  const [, other] = apis;
  if (other === undefined) throw new Error("there are two");
  const there = teller.listen("?after=latest", { at: other });
  await hasBegun(there);
  await teller.tell();
  await waitFor("what the other process did not write is told by it", () => told(there).length === 1);
  there.stop();
  await db.query("delete from svc.webhook_events where wallet = $1 and sequence < 6", [
    Buffer.from(teller.wallet.slice(2), "hex"),
  ]);
  const gap = teller.listen("", { lastEventId: "3" });
  const ahead = teller.listen("", { lastEventId: "99" });
  await waitFor("they have begun", () => told(gap).length === 2 && beginnings(ahead).length === 1);
  t.same(beginnings(gap), [{ after: 3, latest: 7, removedUpTo: 5 }]);
  t.same(told(gap), [6, 7]);
  t.same(beginnings(ahead), [{ after: 7, latest: 7, removedUpTo: null }]);
  gap.stop();
  ahead.stop();
});

t.test("a stream ends within seconds of its key, and nothing is told after it", async (t) => {
  const teller = await startTeller(t, shop);
  const own = { "X-Svc-Dev-Key": (await buyKey(shop, teller.headers)).secret };
  const revoked = teller.listen();
  await hasBegun(revoked);
  const beganAt = performance.now();
  await send(api, `${keysPath}/revoke`, { headers: teller.headers, body: { keyId: teller.keyId } });
  await waitFor("it has ended, and does not get in again", () => revoked.statuses.includes(401));
  t.ok(performance.now() - beganAt < 5000);
  await teller.tell();
  await sleep(1500);
  t.same(told(revoked), []);
  revoked.stop();
  t.equal((await api.get(eventsPath, own)).status, 200, "another key of the wallet goes on");

  const late = await startTeller(t, shop);
  const expiring = late.listen();
  await hasBegun(expiring);
  await db.query(
    "update svc.api_keys set created_at = now() - interval '31 days', expires_at = now() where id = $1",
    [idOf("key").parse(late.keyId)],
  );
  await waitFor("it has ended", () => expiring.connections > 1);
  expiring.stop();
});

t.test("a wallet, an address and a process have so many, and others their own", async (t) => {
  const [greedy, other, third] = [
    await startTeller(t, shop),
    await startTeller(t, shop),
    await startTeller(t, shop),
  ];
  const open = (teller: typeof greedy, count: number) => Array.from({ length: count }, () => teller.listen());
  const refusedTo = async (teller: typeof greedy) =>
    api.get(eventsPath, { ...teller.key, Accept: "text/event-stream" });
  const clients = open(greedy, 3);
  await waitFor("they listen", async () => (await streamsOf()) === 3);
  const ofWallet = await refusedTo(greedy);
  t.match(ofWallet, { status: 429, json: { code: "rate_limited", detail: /this wallet/ } });
  t.ok(Number(ofWallet.headers.get("retry-after")) > 0);
  const second = { "X-Svc-Dev-Key": (await buyKey(shop, greedy.headers)).secret };
  const byOther = await api.get(eventsPath, { ...second, Accept: "text/event-stream" });
  t.equal(byOther.status, 429, "another key of the same wallet has none of its own");
  clients.push(...open(other, 3), ...open(third, 1));
  await waitFor("they listen", async () => (await streamsOf()) === 7);
  t.match(await refusedTo(third), { status: 429, json: { detail: /this address/ } });
  t.equal((await greedy.list()).status, 200, "the list is for all of them");
  const answers = await Promise.all(clients.map(async (client) => client.stop()));
  t.equal(answers.length, 7);
  await waitFor("all have gone", async () => (await streamsOf()) === 0);
  const rush = Array.from({ length: 12 }, () => greedy.listen());
  await waitFor("those that may do", async () => rush.every(({ statuses }) => statuses.length > 0));
  t.equal(rush.filter(({ statuses }) => statuses[0] === 200).length, 3, "together no more than one by one");
  for (const client of rush) client.stop();
});

t.test("one that does not read holds a page and no more; the others go on", async (t) => {
  const teller = await startTeller(t, shop);
  const slow = connect(Number(new URL(api.url).port), "127.0.0.1");
  t.teardown(() => slow.destroy());
  await once(slow, "connect");
  slow.on("error", () => {});
  slow.pause();
  slow.write(
    `GET ${eventsPath} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nX-Svc-Dev-Key: ${teller.secret}\r\n\r\n`,
  );
  await waitFor("it listens", async () => (await streamsOf()) === 1);
  for (let at = 0; at < 10; at += 1) await teller.tell(30, "y".repeat(60_000));
  const reading = teller.listen();
  await waitFor("the other has all of them", () => told(reading).length === 300);
  t.same(told(reading), range(1, 300));
  t.equal(reading.connections, 1, "a backlog of 18 MB does not let go who reads it");
  reading.stop();
  let bytes = 0;
  slow.on("data", (data) => {
    bytes += data.length;
  });
  slow.resume();
  await waitFor("and who reads late has them as well", () => bytes > 300 * 60_000);
  slow.destroy();
});

t.test("while PostgreSQL does not answer streams stay, and go on with what came meanwhile", async (t) => {
  const teller = await startTeller(t, shop);
  const client = teller.listen();
  await hasBegun(client);
  // As if it did not answer: what streams ask is made to fail.
  await db.query("alter table svc.event_sequences rename to event_sequences_away");
  await waitFor("it has failed", () =>
    api.logLines.some((line) => line.includes("streams of events cannot go on")),
  );
  await db.query("alter table svc.event_sequences_away rename to event_sequences");
  await teller.tell(2);
  await waitFor("both are told", () => told(client).length === 2);
  t.equal(client.connections, 1);
  client.stop();
});

t.test("an API that stops ends its streams", async (t) => {
  const teller = await startTeller(t, shop);
  const [, other] = apis;
  const client = teller.listen("", { at: other ?? api });
  await hasBegun(client);
  const beganAt = performance.now();
  await other?.stop();
  t.ok(performance.now() - beganAt < 5000, "it does not wait for them");
  client.stop();
});
