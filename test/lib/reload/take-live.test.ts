import t from "tap";
import { createClientAddress } from "../../../lib/http-service/client-address.ts";
import { differencesOf } from "../../../lib/reload/differences.ts";
import { takeLive } from "../../../lib/reload/take-live.ts";

t.test("values that are named are taken into the objects that parts hold, all others stay", async (t) => {
  const running = {
    port: 1,
    limits: { points: 1, windowMs: 2 },
    names: { a: "A", b: "B" },
    list: ["x"],
    log: { level: "info", format: "json" },
  };
  const { limits, names } = running;
  const next = {
    port: 2,
    limits: { points: 9, windowMs: 9, burst: 9 },
    names: { a: "A", c: "C" },
    list: ["y"],
    log: { level: "warn", format: "pretty" },
  };
  takeLive(running, next, ["limits.points", "limits.burst", "names", "list", "log.level"]);
  t.same(running, {
    port: 1,
    limits: { points: 9, windowMs: 2, burst: 9 },
    names: { a: "A", c: "C" },
    list: ["y"],
    log: { level: "warn", format: "json" },
  });
  t.equal(running.limits, limits);
  t.equal(running.names, names);
  takeLive(running, { ...next, limits: { points: 3 } }, ["limits"]);
  t.same(limits, { points: 3 }, "what is not there any more is gone");
});

t.test("of a secret no more is told than that it differs", async (t) => {
  const [from, to] = [
    { key: "tg_old", open: 1 },
    { key: "tg_new", open: 2 },
  ];
  t.same(differencesOf(from, to, ["key"]), [
    { path: "key", from: "(secret)", to: "(secret)" },
    { path: "open", from: 1, to: 2 },
  ]);
  t.same(differencesOf({ key: "" }, { key: "tg_new" }, ["key"]), [{ path: "key", from: "", to: "(secret)" }]);
});

t.test("another list of trusted proxies counts from the next request on", async (t) => {
  const settings: { trustedProxies: readonly string[] } = { trustedProxies: [] };
  const { of } = createClientAddress(settings);
  const request = { peer: "10.0.0.1", forwardedFor: "198.51.100.7" };
  t.equal(of(request), "10.0.0.1");
  settings.trustedProxies = ["10.0.0.0/8"];
  t.equal(of(request), "198.51.100.7");
  settings.trustedProxies = [];
  t.equal(of(request), "10.0.0.1");
});
