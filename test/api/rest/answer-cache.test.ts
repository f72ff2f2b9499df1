import t from "tap";
import { createAnswerCache, type FinishedAnswer } from "../../../api/rest/answer-cache.ts";
import type { CacheRule, RouteAnswer } from "../../../api/rest/route.ts";
import { isRefusal, type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const start = (options: Partial<Parameters<typeof createAnswerCache>[0]> = {}) =>
  createAnswerCache({ bytesMax: 1_000_000, canBeImmutable: () => true, headForMs: 60_000, ...options });
const answer = (cache: CacheRule, value: unknown = 1) => ({ record: { value }, cache });
const textOf = (finished: FinishedAnswer | Refusal) =>
  isRefusal(finished) ? finished.detail : finished.body.toString();

t.test("what is true for one head is made once for all who ask, and forgotten with it", async (t) => {
  const cache = start();
  let made = 0;
  const ask = () =>
    cache.answer("/a", async () => {
      made += 1;
      return answer("head", made);
    });
  await Promise.all(Array.from({ length: 20 }, ask));
  t.equal(made, 1, "equal questions are joined");
  await ask();
  t.equal(made, 1);
  cache.headMoved();
  t.equal(cache.peek("/a"), undefined);
  t.equal(textOf(await ask()), '{"value":2}');
});

t.test("the past outlives heads, not the chain", async (t) => {
  const cache = start();
  for (const rule of ["immutable", "mined"] as const) await cache.answer(rule, async () => answer(rule));
  cache.headMoved();
  t.ok(cache.peek("immutable"));
  t.ok(cache.peek("mined"));
  cache.chainChanged();
  t.equal(cache.peek("immutable"), undefined);
  t.equal(cache.peek("mined"), undefined);
  t.equal(cache.bytes(), 0);
});

t.test("an answer that was begun on another chain or head stays with who asked for it", async (t) => {
  for (const [rule, change] of [
    ["immutable", "chainChanged"],
    ["mined", "chainChanged"],
    ["head", "headMoved"],
    ["consensus", "headMoved"],
  ] as const) {
    const cache = start();
    const { promise, resolve } = Promise.withResolvers<RouteAnswer>();
    const late = cache.answer("/late", () => promise);
    cache[change]();
    const own = cache.answer("/late", async () => answer(rule, "new"));
    resolve(answer(rule, "old"));
    t.equal(textOf(await late), '{"value":"old"}', rule);
    t.equal(textOf(await own), '{"value":"new"}', "nobody is joined to it");
    t.equal(cache.peek("/late")?.body.toString(), '{"value":"new"}', rule);
  }
});

t.test("on a development chain nothing outlives its head", async (t) => {
  const cache = start({ canBeImmutable: () => false });
  await cache.answer("/a", async () => answer("immutable"));
  t.ok(cache.peek("/a"));
  cache.headMoved();
  t.equal(cache.peek("/a"), undefined);
});

t.test("what is true for a head is made anew after a while also where no block comes", async () => {
  const cache = start({ headForMs: 20 });
  await cache.answer("/a", async () => answer("head"));
  await waitFor("it is forgotten", () => cache.peek("/a") === undefined);
});

t.test("refusals and failures are for those who wait for them, and kept for nobody", async (t) => {
  const cache = start();
  let asked = 0;
  const refuse = () =>
    cache.answer("/r", async () => {
      asked += 1;
      return refusal("not_found", "no");
    });
  await Promise.all([refuse(), refuse()]);
  await refuse();
  t.equal(asked, 2);
  const fail = () => cache.answer("/f", () => Promise.reject(new Error("away")));
  await t.rejects(Promise.all([fail(), fail()]));
  t.equal(textOf(await cache.answer("/f", async () => answer("head"))), '{"value":1}');
});

t.test("answers take no more memory than they may, and a huge one is not kept at all", async (t) => {
  const bytesMax = 40_000;
  const cache = start({ bytesMax });
  for (let index = 0; index < 200; index += 1) {
    const rule = index % 2 === 0 ? "immutable" : "head";
    await cache.answer(`/${index}`, async () => answer(rule, "x".repeat(1000)));
    t.ok(cache.bytes() <= bytesMax);
  }
  t.ok(cache.bytes() > bytesMax / 2);
  await cache.answer("/huge", async () => answer("immutable", "x".repeat(bytesMax)));
  t.equal(cache.peek("/huge"), undefined);
  t.ok(cache.peek("/198"), "and pushes nothing out");
});
