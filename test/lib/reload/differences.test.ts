import t from "tap";
import { differencesOf, isBelow } from "../../../lib/reload/differences.ts";

t.test("values that differ are told by the names of the file, old and new", async (t) => {
  t.same(
    differencesOf(
      { port: 1, log: { level: "info" }, list: [1, 2], amount: 10n, gone: true, deep: { a: { b: 1, c: 2 } } },
      { port: 1, log: { level: "warn" }, list: [2, 1], amount: 11n, come: {}, deep: { a: { b: 1, c: 3 } } },
    ),
    [
      { path: "log.level", from: "info", to: "warn" },
      { path: "list", from: [1, 2], to: [2, 1] },
      { path: "amount", from: "10", to: "11" },
      { path: "deep.a.c", from: 2, to: 3 },
      { path: "gone", from: true, to: undefined },
    ],
  );
  t.same(differencesOf({ a: undefined, b: { c: 1 } }, { b: { c: 1 } }), [], "what is undefined is not there");
});

t.test("a change of credentials is a change, and shows none of them", async (t) => {
  const secret = "secret-of-the-test";
  const changes = differencesOf(
    {
      one: `https://user:${secret}@node:8545/path`,
      two: `https://node/?token=${secret}`,
      list: [{ url: `redis://:${secret}@redis:6379` }],
      three: "https://node:8545/x",
    },
    {
      one: `https://user:${secret}2@node:8545/path`,
      two: `https://node/?token=${secret}2`,
      list: [{ url: `redis://:${secret}2@redis:6379` }],
      three: "https://node:8545/y",
    },
  );
  t.notMatch(JSON.stringify(changes), secret);
  t.same(changes, [
    { path: "one", from: "https://…@node:8545/path", to: "https://…@node:8545/path" },
    { path: "two", from: "https://node/?…", to: "https://node/?…" },
    { path: "list", from: [{ url: "redis://…@redis:6379" }], to: [{ url: "redis://…@redis:6379" }] },
    { path: "three", from: "https://node:8545/x", to: "https://node:8545/y" },
  ]);
});

t.test("a name is for what it names and what stands below it, not for what begins like it", async (t) => {
  t.equal(isBelow("limits", ["limits"]), true);
  t.equal(isBelow("limits.bodyBytesMax", ["limits"]), true);
  t.equal(isBelow("limitsOfOthers", ["limits"]), false);
  t.equal(isBelow("log", ["log.level"]), false);
  t.equal(isBelow("log.format", ["log.level"]), false);
});
