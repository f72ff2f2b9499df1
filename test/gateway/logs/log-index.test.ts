import { randomInt } from "node:crypto";
import t from "tap";
import type { LogCriteria, LogPlace } from "../../../gateway/logs/log-criteria.ts";
import { createLogIndex } from "../../../gateway/logs/log-index.ts";
import { createBloomTest, readBloom } from "../../../lib/chain/log-bloom.ts";
import { addressOf, createScriptedChain, topicOf } from "../../fakes/scripted-chain.ts";
import { createRandom } from "../json-rpc/scan-random.ts";

/** Another one for each run, so that runs add up; a failure prints its own, and INDEX_SEED repeats it. */
const seed = Number(process.env["INDEX_SEED"] ?? randomInt(2 ** 31));
t.comment(`INDEX_SEED=${seed}`);

/** Few values, so that many match. */
const addresses = Array.from({ length: 6 }, (_, index) => addressOf(`address ${index}`));
const topics = Array.from({ length: 6 }, (_, index) => topicOf(`topic ${index}`));

/** One log after the other against one wish after the other, as the text of `eth_newFilter` says it. */
function isWanted(criteria: LogCriteria, log: LogPlace): boolean {
  if (criteria.addresses.length > 0 && !criteria.addresses.includes(log.address)) return false;
  if (criteria.topics.length > log.topics.length) return false;
  return criteria.topics.every(
    (values, place) => values === null || values.includes(log.topics[place] ?? ""),
  );
}

t.test(
  "who wants a log is found as if each were asked, and no block that has one is passed over",
  async (t) => {
    const random = createRandom(seed);
    const some = (values: readonly string[], max: number) =>
      random.shuffle(values).slice(0, random.below(max + 1));
    const logOf = (): { address: string; topics: string[] } => ({
      address: random.pick(addresses),
      topics: random.many(random.below(5), () => random.pick(topics)),
    });
    for (let round = 0; round < 60; round += 1) {
      const index = createLogIndex<string>();
      const wanted = new Map<string, LogCriteria>();
      for (let step = 0; step < 30; step += 1) {
        const name = `w${random.below(20)}`;
        if (wanted.delete(name)) index.remove(name);
        if (random.chance(4)) continue;
        const places = random.many(random.below(5), () => some(topics, 3));
        const criteria = {
          addresses: some(addresses, 3),
          topics: places.map((values) => (values.length === 0 ? null : values)),
        };
        wanted.set(name, criteria);
        index.add(name, criteria);
      }
      const logs = random.many(random.below(4), logOf);
      const found = logs.map((log) => {
        const names: string[] = [];
        index.find(log, (name) => names.push(name));
        return names.toSorted();
      });
      const expected = logs.map((log) =>
        [...wanted].flatMap(([name, criteria]) => (isWanted(criteria, log) ? [name] : [])).toSorted(),
      );
      t.strictSame(found, expected, `seed ${seed}, round ${round}`);
      const bloom = readBloom(createScriptedChain().add(logs).block["logsBloom"]);
      if (expected.flat().length > 0) t.equal(index.mayMatch(bloom), true, `seed ${seed}, round ${round}`);
      else if (wanted.size === 0 || logs.length === 0) t.equal(index.mayMatch(bloom), false);
      for (const criteria of wanted.values()) {
        if (logs.some((log) => isWanted(criteria, log))) t.equal(createBloomTest(criteria)(bloom), true);
      }
      for (const name of wanted.keys()) index.remove(name);
      t.equal(index.mayMatch(undefined), false, "nobody is left");
    }
  },
);

t.test("most blocks without a wanted log are ruled out by their bloom filter alone", async (t) => {
  const index = createLogIndex<string>();
  index.add("one", { addresses: [], topics: [[topicOf("wanted"), topicOf("wanted too")]] });
  index.add("other", { addresses: [addressOf("a"), addressOf("b")], topics: [null, [topicOf("second")]] });
  let asked = 0;
  for (let block = 0; block < 200; block += 1) {
    const logs = [{ address: addressOf("a"), topics: [topicOf(`${block}`)] }];
    const { logsBloom } = createScriptedChain().add(logs).block;
    if (index.mayMatch(readBloom(logsBloom))) asked += 1;
  }
  t.ok(asked < 4, `${asked} of 200`);
});

t.test("a log leads to those who name its values, however many others there are", async (t) => {
  const index = createLogIndex<number>();
  for (let owner = 0; owner < 5000; owner += 1) {
    index.add(owner, {
      addresses: [addressOf(String(owner))],
      topics: [[topicOf("shared"), topicOf("other")]],
    });
  }
  const found: number[] = [];
  const looked = index.find({ address: addressOf("77"), topics: [topicOf("shared")] }, (owner) =>
    found.push(owner),
  );
  t.strictSame(found, [77]);
  t.equal(looked, 1);
});
