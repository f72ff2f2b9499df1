import fc from "fast-check";
import t from "tap";
import {
  createClientAddress,
  limitAddress,
  normalizeAddress,
} from "../../../lib/http-service/client-address.ts";
import "../../helpers/property-seed.ts";

t.test("without trusted proxies X-Forwarded-For counts for nothing", async (t) => {
  const { of } = createClientAddress({ trustedProxies: [] });
  t.equal(of({ peer: "198.51.100.7", forwardedFor: "203.0.113.1" }), "198.51.100.7");
  t.equal(of({ peer: "127.0.0.1", forwardedFor: "203.0.113.1" }), "127.0.0.1");
});

t.test("through trusted proxies the client is the right-most address that is none of them", async (t) => {
  const { of } = createClientAddress({ trustedProxies: ["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.9"] });
  const cases: [peer: string, forwardedFor: string | undefined, client: string, why: string][] = [
    ["10.1.2.3", "203.0.113.1", "203.0.113.1", "one proxy"],
    ["10.1.2.3", "1.1.1.1, 203.0.113.1", "203.0.113.1", "what the client wrote itself does not count"],
    ["10.1.2.3", "10.9.9.9, 203.0.113.1", "203.0.113.1", "not even where it looks like a proxy"],
    ["10.1.2.3", "203.0.113.1, 10.7.7.7", "203.0.113.1", "two proxies"],
    ["10.1.2.3", "203.0.113.1,192.0.2.9 ,\t2001:db8:ffff::5", "203.0.113.1", "three, one over IPv6"],
    [
      "203.0.113.50",
      "198.51.100.1",
      "203.0.113.50",
      "a stranger that writes the header is itself the client",
    ],
    ["203.0.113.50", "198.51.100.1, 10.1.1.1", "203.0.113.50", "even if it names proxies"],
    ["::ffff:10.1.2.3", "203.0.113.1", "203.0.113.1", "the proxy over a dual-stack socket"],
    ["10.1.2.3", "::ffff:203.0.113.1", "203.0.113.1", "the client written as IPv4-mapped IPv6"],
    ["10.1.2.3", "203.0.113.1:4711", "203.0.113.1", "with a port"],
    ["10.1.2.3", "[2001:db8::7]:4711", "2001:db8:0:0:0:0:0:7", "IPv6 with a port"],
    ["10.1.2.3", "10.4.4.4, 10.5.5.5", "10.4.4.4", "a client among the proxies"],
    ["10.1.2.3", "203.0.113.1, unknown", "10.1.2.3", "a hop that hides its client stands for it"],
    ["10.1.2.3", "203.0.113.1, _hidden, 10.7.7.7", "10.7.7.7", "also further away"],
    ["10.1.2.3", "", "10.1.2.3", "an empty header"],
    ["10.1.2.3", undefined, "10.1.2.3", "no header"],
    ["", "203.0.113.1", "unknown", "a socket that is gone"],
  ];
  for (const [peer, forwardedFor, client, why] of cases) t.equal(of({ peer, forwardedFor }), client, why);
});

t.test("no header, however written, moves a stranger or hides the hop that a proxy saw", async (t) => {
  const { of } = createClientAddress({ trustedProxies: ["10.0.0.0/8"] });
  fc.assert(
    fc.property(fc.string(), fc.ipV4(), (written, seen) => {
      if (normalizeAddress(seen)?.startsWith("10.")) return;
      t.equal(of({ peer: "203.0.113.9", forwardedFor: written }), "203.0.113.9");
      t.equal(of({ peer: "10.0.0.1", forwardedFor: `${written}, ${seen}` }), seen);
    }),
    { numRuns: 200 },
  );
});

t.test("very long headers are read from the right as far as any real chain goes", async (t) => {
  const { of } = createClientAddress({ trustedProxies: ["10.0.0.0/8"] });
  const proxies = Array.from({ length: 1000 }, () => "10.0.0.2");
  t.equal(of({ peer: "10.0.0.1", forwardedFor: ["203.0.113.1", ...proxies].join(",") }), "10.0.0.2");
});

t.test("a range that is none is refused with its text", async (t) => {
  for (const range of [
    "10.0.0.0/33",
    "2001:db8::/129",
    "proxy.local",
    "10.0.0/8",
    "",
    "::ffff:10.0.0.0/104",
    "/8",
  ]) {
    t.throws(() => createClientAddress({ trustedProxies: [range] }), { message: `"${range}" is neither` });
  }
});

t.test("limits count IPv4 by address, IPv6 by /64, IPv4-mapped IPv6 as IPv4", async (t) => {
  const cases: [address: string, counted: string][] = [
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::ffff", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["0000:0000:0000:0000:0000:ffff:c000:0201", "192.0.2.1"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ];
  for (const [address, counted] of cases)
    t.equal(limitAddress(normalizeAddress(address) ?? ""), counted, address);
  t.equal(limitAddress("unknown"), "unknown");
  for (const text of ["", "localhost", "1.2.3", "1.2.3.4.5", "[::1]", "256.1.1.1", "2001:db8:::1"]) {
    t.equal(normalizeAddress(text), undefined, text);
  }
});
