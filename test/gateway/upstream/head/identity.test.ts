import { test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createHeaderChain } from "./header-chain.ts";

const chain = createHeaderChain("ours");
const other = createHeaderChain("other");

test("a configured genesis decides at once, and no other is ever taken", async (t) => {
  const bench = createHeadStateBench({ count: 3, genesisHash: chain.genesisHash });
  bench.say("a", other, 50);
  bench.say("b", other, 50);
  bench.pass(60_000);
  t.same(bench.told(), []);
  t.match(bench.state.validator("a")?.standing, {
    kind: "foreign",
    why: `genesis block ${other.genesisHash}`,
  });
  bench.say("c", chain, 10);
  bench.pass(500);
  t.same(bench.told(), [10]);
  bench.fail("c");
  bench.pass(60_000);
  bench.say("c", other, 50);
  bench.pass(60_000);
  t.same(bench.told(), [10], "also where all three are of the other network");
  t.equal(bench.eligible(), "");
});

test("without one the first that most validators agree on is the network's", async (t) => {
  const bench = createHeadStateBench({ count: 5 });
  bench.say("a", other, 50);
  bench.say("b", chain, 10);
  bench.say("c", chain, 10);
  t.equal(bench.state.genesisHash(), undefined, "two of five");
  t.equal(bench.eligible(), "");
  bench.say("d", chain, 10);
  t.equal(bench.state.genesisHash(), chain.genesisHash);
  bench.say("e", chain, 10);
  t.equal(bench.eligible(), "bcde");
  t.equal(bench.announced(), 10n);
});

test("where most validators are down the others decide after a wait", async (t) => {
  const bench = createHeadStateBench({ count: 5 });
  for (const label of ["c", "d", "e"]) bench.fail(label);
  bench.say("a", chain, 10);
  bench.say("b", chain, 10);
  bench.pass(1999);
  t.same(bench.told(), []);
  bench.pass(1);
  t.equal(bench.state.genesisHash(), chain.genesisHash);
  t.same(bench.told(), [10]);
});

test("a tie decides nothing", async (t) => {
  const bench = createHeadStateBench({ count: 2 });
  bench.say("a", chain, 10);
  bench.say("b", other, 10);
  bench.pass(60_000);
  t.equal(bench.state.genesisHash(), undefined);
  bench.say("b", chain, 10);
  t.equal(bench.announced(), 10n);
});

test("a validator of another chain id never counts, whatever its genesis", async (t) => {
  const bench = createHeadStateBench({ count: 3 });
  for (const label of ["a", "b"]) bench.say(label, chain, 10);
  bench.say("c", chain, 12, 1n);
  bench.pass(5000);
  t.equal(bench.announced(), 10n);
  t.match(bench.state.validator("c")?.standing, { kind: "foreign", why: "chain id 1" });
  for (const label of ["a", "b"]) bench.fail(label);
  bench.pass(60_000);
  t.equal(bench.announced(), 10n, "also as the last one");
  t.same(bench.told(), [10]);
});

test("a validator that turns foreign is out with its first answer, and in again with the next right one", async (t) => {
  const bench = createHeadStateBench({ count: 3 });
  for (const label of bench.labels) bench.say(label, chain, 10);
  bench.say("a", other, 300);
  t.equal(bench.eligible(), "bc");
  bench.pass(60_000);
  t.equal(bench.announced(), 10n);
  bench.say("a", chain, 10);
  t.equal(bench.eligible(), "abc");
});

test("a validator counts as gone after two questions without an answer", async (t) => {
  const bench = createHeadStateBench({ count: 2 });
  for (const label of bench.labels) bench.say(label, chain, 10);
  bench.fail("a");
  t.equal(bench.eligible(), "ab", "one lost answer may be anything");
  bench.fail("a");
  t.equal(bench.eligible(), "b");
  bench.say("a", chain, 10);
  t.equal(bench.eligible(), "ab");
});
