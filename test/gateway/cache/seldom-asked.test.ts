import t from "tap";
import { createHeadCache } from "../../../gateway/cache/head-cache.ts";
import { createPermanentCache } from "../../../gateway/cache/permanent-cache.ts";
import { readMethodTable } from "../../../gateway/methods/method-table.ts";
import { result, startCache } from "./scripted-upstream.ts";

const { rules } = readMethodTable(new URL("../../../config/methods.yaml", import.meta.url).pathname);

/** From here on the cache takes only what comes a second time. */
const many = 4096;
const addressOf = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;

/** A cache after `many` calls, about the head or a block below. */
async function filledCache(block: string) {
  const started = startCache({ bytesMax: 8_000_000 });
  for (let index = 0; index < many; index += 1) started.ask("eth_getBalance", [addressOf(index), block]);
  for (const { answer } of started.asked.splice(0)) answer(result('"0x1"'));
  return started;
}

for (const [block, cacheName] of [
  ["latest", "head"],
  ["0x10", "forever"],
] as const) {
  t.test(`of many answers (${cacheName}) those that come again are cached`, async (t) => {
    const { ask, reply, cache } = await filledCache(block);
    t.match(cache.stats(), { [cacheName]: { entries: many } });
    t.equal(ask("eth_getBalance", [addressOf(0), block]).source, "hit", "what came first is there");

    const late = [addressOf(many), block];
    t.equal(ask("eth_getBalance", late).source, "miss");
    await reply(result('"0x2"'));
    t.equal(ask("eth_getBalance", late).source, "miss", "not after the first request");
    t.match(cache.stats(), { [cacheName]: { entries: many } });
    await reply(result('"0x2"'));
    t.equal(ask("eth_getBalance", late).source, "hit", "after the second");
    t.match(cache.stats(), { [cacheName]: { entries: many + 1 } });
  });

  t.test(`of many answers (${cacheName}) one that several wait for is cached at once`, async (t) => {
    const { ask, asked, reply } = await filledCache(block);
    const late = [addressOf(many), block];
    const first = ask("eth_getBalance", late);
    const second = ask("eth_getBalance", late);
    t.equal(second.source, "join");
    t.equal(asked.length, 1);
    await reply(result('"0x2"'));
    t.match(await Promise.all([first.answer, second.answer]), [
      { validator: "validator-3" },
      { validator: "validator-3" },
    ]);
    t.equal(ask("eth_getBalance", late).source, "hit");
  });

  t.test(`of many answers (${cacheName}) one that had to be fresh is cached at once`, async (t) => {
    const { ask, reply } = await filledCache(block);
    const late = [addressOf(many), block];
    ask("eth_getBalance", late, { isFresh: true });
    await reply(result('"0x2"'));
    t.equal(ask("eth_getBalance", late).source, "hit");
  });
}

t.test("two calls whose keys have one hash never get each other's answer", async (t) => {
  const balance = rules.get("eth_getBalance");
  const count = rules.get("eth_getTransactionCount");
  if (balance === undefined || count === undefined) throw new Error("a method has no line");
  const one = { rule: balance, paramsText: '["0x1"]' };
  const others = [
    { rule: balance, paramsText: '["0x2"]' },
    { rule: count, paramsText: '["0x1"]' },
  ];
  for (const cache of [createHeadCache({ bytesMax: 10_000 }), createPermanentCache({ bytesMax: 10_000 })]) {
    const answer = result('"0x1"');
    cache.keep(7, { ...one, answer });
    t.equal(cache.find(7, one), answer);
    const request = cache.inFlight.open(7, one);
    for (const other of others) {
      t.equal(cache.find(7, other), undefined);
      t.equal(cache.inFlight.find(7, other), undefined, "nor waits for it");
      const further = cache.inFlight.open(7, other);
      t.equal(cache.inFlight.find(7, other), further);
      t.equal(cache.inFlight.find(7, one), request);
      const newer = result('"0x2"');
      cache.keep(7, { ...other, answer: newer });
      t.equal(cache.find(7, other), newer);
      t.equal(cache.find(7, one), undefined, "the newer one has the place");
      t.equal(cache.entries(), 1);
      cache.keep(7, { ...one, answer });
    }
    const bytes = cache.bytes();
    cache.keep(7, { ...one, answer });
    t.equal(cache.bytes(), bytes, "and what takes its place is counted once");
    cache.inFlight.close(request);
    t.equal(cache.inFlight.find(7, one), undefined);
    for (const other of others)
      t.not(cache.inFlight.find(7, other), undefined, "those before it in the chain stay");
  }
});
