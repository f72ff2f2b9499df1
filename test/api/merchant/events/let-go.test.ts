import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import t from "tap";
import { z } from "zod";
import { createEventStreams } from "../../../../api/merchant/events/event-streams.ts";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { insertWallet, keyRow, orderRow } from "../support/rows.ts";
import { startOutbox } from "../webhooks/support/start-outbox.ts";

const outbox = await startOutbox(t);

async function addKey() {
  const wallet = await insertWallet(outbox.pool);
  const order = orderRow(wallet, { paid_at: new Date(), paid_block: 1 });
  await insertRow(outbox.pool, "orders", order);
  const key = keyRow(wallet, order.id);
  await insertRow(outbox.pool, "api_keys", key);
  return { wallet, key };
}

t.test("who has not read for half a minute what was written is let go", async (t) => {
  const { wallet, key } = await addKey();
  const body = JSON.stringify({ text: "z".repeat(60_000) });
  await outbox.rows("insert into svc.event_sequences values ($1, 1000)", [wallet]);
  await outbox.rows(
    `insert into svc.webhook_events (id, wallet, sequence, type, body)
      select gen_random_uuid(), $1, n, 'webhook.test', $2 from generate_series(1, 1000) n`,
    [wallet, body],
  );
  let atMs = 0;
  const streams = createEventStreams({
    ...{
      db: outbox.pool,
      settings: { clientsMax: 5, perAddressMax: 5, perWalletMax: 5 },
      heartbeatMs: 50,
      pollMs: 20,
    },
    ...{ logger: { info() {}, warn() {} }, now: Date.now, monotonicMs: () => atMs },
  });
  streams.start();
  const server = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const address = "::1";
    streams
      .open({ keyId: key.id, wallet: `0x${Buffer.from(wallet).toString("hex")}`, after: 0, address })
      .begin(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    await streams.stop();
    server.close();
  });
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const ask = async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    t.teardown(() => socket.destroy());
    return socket;
  };
  const slow = await ask();
  slow.pause();
  const reading = await ask();
  let bytes = 0;
  reading.on("data", (data) => {
    bytes += data.length;
  });
  await waitFor("one has everything", () => bytes > 1000 * 60_000);
  t.equal(streams.count(), 2);
  atMs = 29_000;
  await outbox.rows("select pg_sleep(0.2)");
  t.equal(streams.count(), 2, "it has its time");
  atMs = 31_000;
  await waitFor("it is let go", () => streams.count() === 1);
  const isOpen = bytes;
  await waitFor("the other one still hears of us", () => bytes > isOpen);
});

t.test("who comes while it is asked whose keys are good is not taken for somebody without one", async (t) => {
  const [first, second] = [await addKey(), await addKey()];
  const comes = Promise.withResolvers<void>();
  const isIn = Promise.withResolvers<void>();
  let asked = 0;
  const db = {
    async query(...given: Parameters<typeof outbox.pool.query>) {
      const answer = await outbox.pool.query(...given);
      asked += 1;
      if (asked > 1) return answer;
      comes.resolve();
      await isIn.promise;
      return answer;
    },
  };
  const streams = createEventStreams({
    ...{
      db,
      settings: { clientsMax: 5, perAddressMax: 5, perWalletMax: 5 },
      heartbeatMs: 3_600_000,
      pollMs: 20,
    },
    ...{ logger: { info() {}, warn() {} }, now: Date.now },
  });
  streams.start();
  const server = createServer(({ url }, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const { wallet, key } = url === "/second" ? second : first;
    streams
      .open({ keyId: key.id, wallet: `0x${Buffer.from(wallet).toString("hex")}`, after: 0, address: "::1" })
      .begin(response);
    if (url === "/second") isIn.resolve();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    await streams.stop();
    server.close();
  });
  const { port } = z.object({ port: z.number() }).parse(server.address());
  /** The first that is told. */
  const ask = async (path: string) => {
    const { body } = await fetch(`http://127.0.0.1:${port}${path}`);
    for await (const chunk of body ?? []) return Buffer.from(chunk).toString();
    return "it has ended";
  };
  const listening = ask("/first");
  await comes.promise;
  const coming = ask("/second");
  for (const told of [listening, coming]) t.match(await told, "event: begin");
});
