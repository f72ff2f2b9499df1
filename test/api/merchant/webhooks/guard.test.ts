import t from "tap";
import { isPublicAddress } from "../../../../api/merchant/webhooks/public-address.ts";
import { createWebhookSender } from "../../../../api/merchant/webhooks/send-webhook.ts";
import { startDns } from "./support/start-dns.ts";
import { startReceiver } from "./support/start-receiver.ts";

/*
 * What is asked of the real sender: whatever a URL or a name server says, nothing but public addresses is connected to.
 */

const receiver = await startReceiver(t, { host: "::" });
const dns = await startDns(t);
const some = {
  id: "evt_1",
  type: "webhook.test",
  body: "{}",
  secrets: { current: "whsec_AAAA", next: undefined },
};
function startSender(options: Partial<Parameters<typeof createWebhookSender>[0]> = {}) {
  const sender = createWebhookSender({
    ...{ httpsOnly: false, dnsServers: [dns.server], now: Date.now, timeoutMs: 5000 },
    ...options,
  });
  t.teardown(() => sender.stop());
  return sender;
}
const { send } = startSender();

/** Hosts that lead to this machine, to its network, to a cloud's metadata or to nobody in particular. */
const hostile = [
  ...[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
  ],
  ...["0", "0.0.0.0", "127.127.127.127", "127.0.0.1.", "①②⑦.⓪.⓪.①", "127。0。0。1"],
  ...["localhost", "LOCALHOST", "localhost.", "sub.localhost"],
  ...[
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
  ],
  ...["[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]"],
  ...[
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
  ],
  ...["[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[fec0::1]"],
  ...["[2001:db8::1]", "[100::1]", "[5f00::1]", "[3fff::1]", "[2620:4f:8000::1]"],
  ...["169.254.169.254", "0xa9fea9fe", "2852039166", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]"],
  ...[
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "100.64.0.1",
    "100.127.255.255",
  ],
  ...["192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"],
  ...["192.31.196.1", "192.52.193.1", "192.175.48.1"],
  ...["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
];

t.test("no spelling of an address that not everybody reaches gets a connection", async (t) => {
  for (const host of hostile) {
    const sent = await send({ ...some, url: `http://${host}:${receiver.port}/` });
    t.match(sent, { status: null, error: /none that everybody reaches/ }, host);
  }
  for (const host of ["user:pass@127.0.0.1", "example.com@127.0.0.1"]) {
    const sent = await send({ ...some, url: `http://${host}:${receiver.port}/` });
    t.match(sent, { status: null, error: /without a user/ }, host);
  }
  t.equal(receiver.open.connections, 0);
  t.equal(dns.asked.length, 0, "none of them is a name");
});

const mapped = [...new Array<number>(10).fill(0), 255, 255, 127, 0, 0, 1];
const loopback6 = [...new Array<number>(15).fill(0), 1];

t.test("a name is no way around, whatever its name server says", async (t) => {
  const answers: [string, { A?: number[][]; AAAA?: number[][] }][] = [
    ["this machine", { A: [[127, 0, 0, 1]] }],
    [
      "a good address and a bad one",
      {
        A: [
          [93, 184, 216, 34],
          [127, 0, 0, 1],
        ],
      },
    ],
    ["a good address and a bad one of IPv6", { A: [[93, 184, 216, 34]], AAAA: [loopback6] }],
    ["this machine in IPv6", { AAAA: [loopback6] }],
    ["IPv4 in IPv6", { AAAA: [mapped] }],
    ["metadata of a cloud", { A: [[169, 254, 169, 254]] }],
  ];
  for (const [what, records] of answers) {
    dns.answers((_name, type) => records[type] ?? []);
    const sent = await send({ ...some, url: `http://shop.test:${receiver.port}/` });
    t.match(sent, { status: null, error: /none that everybody reaches/ }, what);
  }
  dns.answers(() => []);
  t.match(await send({ ...some, url: `http://shop.test:${receiver.port}/` }), {
    error: "The host has no address",
  });
  t.equal(receiver.open.connections, 0);
});

t.test(
  "a name that moves between two look-ups leads nowhere: there is one look-up for a connection",
  async (t) => {
    const good = await startReceiver(t, { host: "127.0.0.2" });
    const bad = await startReceiver(t, { host: "127.0.0.1", port: good.port });
    // As if 127.0.0.2 were public.
    const { send } = startSender({ isAllowed: (address) => address === "127.0.0.2" });
    const url = `http://rebind.test:${good.port}/`;
    dns.answers((_name, type) => (type === "A" ? [[127, 0, 0, 2]] : []));
    dns.asked.length = 0;
    t.match(await send({ ...some, url }), { status: 204, error: null });
    t.same(dns.asked.map(({ type }) => type).toSorted(), ["A", "AAAA"]);
    dns.answers((_name, type) => (type === "A" ? [[127, 0, 0, 1]] : []));
    t.match(await send({ ...some, url }), { status: null, error: /none that everybody reaches/ });
    t.same([good.received.length, bad.open.connections], [1, 0]);
  },
);

t.test("a redirect is an answer, and nobody goes where it points", async (t) => {
  const { send } = startSender({ isAllowed: (address) => address === "127.0.0.1" });
  const shop = await startReceiver(t);
  const inner = await startReceiver(t);
  for (const status of [301, 302, 303, 307, 308]) {
    shop.answers((response) => response.writeHead(status, { Location: inner.url }).end());
    t.match(await send({ ...some, url: shop.url }), { status, error: null });
  }
  t.equal(inner.open.connections, 0);
});

t.test("a URL has to be one that is sent to at all", async (t) => {
  const refused: [string, RegExp][] = [
    ["http://93.184.216.34:22/", /ports 80, 443/],
    ["http://93.184.216.34:1023/", /ports 80, 443/],
    ["ftp://93.184.216.34/", /https or http/],
    ["file:///etc/passwd", /https or http/],
    ["http://93.184.216.34/#x", /fragment/],
    ["hook", /A URL was expected/],
    ["http://a b/", /A URL was expected/],
    ["http://example.com\\@127.0.0.1/", /A URL was expected/],
    [`http://example.com/${"x".repeat(500)}`, /500 characters/],
  ];
  for (const [url, error] of refused) t.match(await send({ ...some, url }), { status: null, error }, url);
  const production = startSender({ httpsOnly: true, isAllowed: () => true });
  t.match(await production.send({ ...some, url: receiver.url }), {
    status: null,
    error: "A URL with https was expected",
  });
});

t.test("addresses that everybody reaches are taken", async (t) => {
  const open = [
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "11.0.0.1",
    "192.0.1.1",
    "2606:4700:4700::1111",
    "2400:3200::1",
  ];
  for (const address of open) t.ok(isPublicAddress(address), address);
  for (const text of ["", "shop.example", "1.1.1", "fe80::1%lo", "2606:4700::1%eth0"])
    t.notOk(isPublicAddress(text), text);
});

t.test("an answer is read up to its bound, and waited for no longer than its time", async (t) => {
  const { send } = startSender({ isAllowed: (address) => address === "127.0.0.1", timeoutMs: 300 });
  const shop = await startReceiver(t);
  const deliver = () => send({ ...some, url: shop.url });
  let written = 0;
  shop.answers((response) => {
    const chunk = Buffer.alloc(65_536, "a");
    const more = () => {
      while (written < 10_485_760 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const long = await deliver();
  t.match(long, { status: 200, error: null });
  t.equal(long.answerStart, "a".repeat(1024));
  t.ok(written < 10_485_760, "the rest is not read");

  shop.answers((response) => response.writeHead(200).write("so far"));
  t.match(
    await deliver(),
    { status: 200, error: "No whole answer within 0.3 seconds" },
    "a body without an end",
  );
  shop.answers((response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("."), 20);
    response.once("close", () => clearInterval(timer));
  });
  t.match(await deliver(), { status: 200, error: "No whole answer within 0.3 seconds" }, "a body in drops");
  shop.answers(() => {});
  t.match(await deliver(), { status: null, error: "No whole answer within 0.3 seconds" }, "silence");
  shop.answers((response) => response.destroy());
  t.match(await deliver(), { status: null, error: "The connection ended before the answer did" });
  shop.answers((response) => response.writeHead(200, { "X-Long": "x".repeat(20_000) }).end());
  t.match(await deliver(), { status: null, error: "The answer is none of HTTP" });
  shop.answers((response) => response.end(Buffer.from([0x61, 0, 0xff, 0x62])));
  t.equal((await deliver()).answerStart, "a\ufffd\ufffdb");
  dns.answers(() => undefined);
  t.match(await send({ ...some, url: "http://silent.test/" }), {
    status: null,
    error: "No connection in time",
  });
  shop.answers((response) => response.writeHead(200).end());
  t.match(await deliver(), { status: 200, error: null, answerStart: "" });
});
