import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem } from "../../support/problem.ts";
import { startCheckout } from "./support/start-checkout.ts";

/* Server-sent events of payment pages, over two processes and one database. */

t.setTimeout(120_000);
const perAddressMax = 3;
const clientsMax = 4;
const shop = await startCheckout(t, {
  replicas: 2,
  change: (config) => ({
    ...config,
    trustedProxies: ["127.0.0.1"],
    checkout: { clientsMax, perAddressMax, heartbeatMs: 200 },
  }),
});
const { api, apis, create, transfer, reached } = shop;
const [, other = api] = apis;
const token = 10n ** 18n;

/** Listens as a browser does, from an address of its own. */
function listen(t: Test, path: string, { from = "192.0.2.1", at = api, headers = "" } = {}) {
  const { hostname, port } = new URL(at.url);
  const socket: Socket = connect(Number(port), hostname);
  const heard = { text: "", isClosed: false };
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    heard.text += text;
  });
  socket.on("close", () => {
    heard.isClosed = true;
  });
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-Forwarded-For: ${from}\r\n${headers}\r\n`);
  t.teardown(() => socket.destroy());
  return {
    socket,
    heard,
    hears: (text: string) => waitFor(`hears ${text}`, async () => heard.text.includes(text)),
    closes: () => waitFor("it ends", async () => heard.isClosed),
    status: async () => {
      await waitFor("an answer comes", async () => heard.text.includes("\r\n\r\n"));
      return Number(heard.text.slice(9, 12));
    },
  };
}

const listeners = async (at = api) =>
  Object(await (await fetch(`${at.opsUrl}/status`)).json()).paymentStreams as unknown;
const nobody = (at = api) => waitFor("nobody listens", async () => (await listeners(at)) === 0);

t.test(
  "each booking is told within seconds, to pages of every process; a complete one ends the stream",
  async (t) => {
    const invoice = await create();
    const streams = [
      listen(t, `${invoice.path}/events?seen=open.0`),
      listen(t, `${invoice.path}/events?seen=open.0`, { at: other }),
    ];
    for (const { hears, heard } of streams) {
      await hears("event: clock");
      t.match(heard.text, /^HTTP\/1\.1 200.*content-type: text\/event-stream/is);
      t.match(heard.text, /cache-control: no-store/i);
      t.notOk(heard.text.includes("changed"), "it shows what there is");
    }
    await transfer(invoice.depositAddress, 4n * token);
    for (const { hears } of streams)
      await hears(`event: changed\nid: underpaid.${4n * token}\ndata: {"state":"underpaid"}`);
    await transfer(invoice.depositAddress, 6n * token);
    for (const { hears, closes } of streams) {
      await hears(`event: changed\nid: paid.${10n * token}`);
      await closes();
    }
    for (const at of apis) await nobody(at);
    const back = listen(t, `${invoice.path}/events`, { headers: `Last-Event-ID: paid.${10n * token}\r\n` });
    t.equal(await back.status(), 204, "at which a browser does not come back");
  },
);

t.test("who comes late is told at once: nothing is lost between the page and its stream", async (t) => {
  const invoice = await create();
  await transfer(invoice.depositAddress, token);
  await reached(invoice.id, "underpaid");
  const stream = listen(t, `${invoice.path}/events?seen=open.0`);
  await stream.hears(`event: changed\nid: underpaid.${token}`);
  const same = listen(t, `${invoice.path}/events`, { headers: `Last-Event-ID: underpaid.${token}\r\n` });
  await same.hears("event: clock");
  t.notOk(same.heard.text.includes("changed"));
  const [, now] = /event: clock\ndata: \{"now":(\d+)\}/.exec(stream.heard.text) ?? [];
  t.ok(Math.abs(Number(now) - Date.now()) < 60_000, "with the chain's clock");
  for (const { socket } of [stream, same]) socket.destroy();
  await nobody();
});

t.test("an address has so many streams, a process so many; what ends makes room", async (t) => {
  const { path } = await create();
  const events = `${path}/events`;
  const own = Array.from({ length: perAddressMax }, () => listen(t, events));
  for (const { hears } of own) await hears("event: clock");
  const fourth = listen(t, events);
  t.equal(await fourth.status(), 429);
  t.match(fourth.heard.text, /retry-after: 10/i);
  const stranger = listen(t, events, { from: "198.51.100.7" });
  await stranger.hears("event: clock");
  const full = listen(t, events, { from: "203.0.113.9" });
  t.equal(await full.status(), 503, "one more than the process serves");
  t.ok(problem.safeParse(JSON.parse(full.heard.text.split("\r\n\r\n")[1] ?? "{}")).success);
  t.equal((await api.get(path)).status, 200, "its page is there all the same");
  own[0]?.socket.destroy();
  await waitFor("there is room", async () => (await listeners()) === clientsMax - 1);
  await listen(t, events).hears("event: clock");
  t.equal(await listeners(), clientsMax);
});
