import { type Test, test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createScriptedChain } from "./scripted-chain.ts";

const chain = createScriptedChain("ours");

/** Five validators at block 10, announced. */
function fiveAtTen() {
  const bench = createHeadStateBench({ count: 5 });
  for (const label of bench.labels) bench.say(label, chain, 10);
  return bench;
}

test("the first head is announced as soon as all validators agree on it", async (t) => {
  const bench = createHeadStateBench({ count: 3 });
  bench.say("a", chain, 10);
  bench.say("b", chain, 10);
  t.same(bench.told(), [], "the third may know a higher one");
  bench.say("c", chain, 10);
  t.same(bench.told(), [10]);
  t.equal(bench.eligible(), "abc");
});

test("where validators differ the first head is the highest, after the others had their time", async (t) => {
  const bench = createHeadStateBench({ count: 3 });
  bench.say("a", chain, 9);
  bench.say("b", chain, 9);
  bench.say("c", chain, 12);
  bench.pass(499);
  t.same(bench.told(), [], "a gateway that was started anew must not begin below what it said before");
  bench.pass(1);
  t.same(bench.told(), [12]);
  t.equal(bench.eligible(), "c");
});

test("a block is announced when a second validator has it", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  t.equal(bench.announced(), 10n);
  t.equal(bench.eligible(), "abcde", "nobody is taken out by a block that is not announced");
  bench.head("b", chain, 11);
  t.equal(bench.announced(), 11n);
  t.equal(bench.eligible(), "ab", "those that do not have it yet are not asked");
  bench.head("c", chain, 11);
  t.equal(bench.eligible(), "abc");
});

test("a second validator that is further on has the block too", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  bench.head("b", chain, 12);
  t.same(bench.told(), [10, 11], "block 11, of which b told only the child");
  bench.head("a", chain, 12);
  t.same(bench.told(), [10, 11, 12]);
});

test("a block that nobody follows to is announced after half a second", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  bench.pass(499);
  t.equal(bench.announced(), 10n);
  bench.pass(1);
  t.equal(bench.announced(), 11n);
  t.equal(bench.eligible(), "a");
});

test("a leader that is gone before its block was announced takes the block with it", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  bench.fail("a");
  bench.pass(5000);
  t.equal(bench.announced(), 10n, "there would be nobody to ask about block 11");
  bench.head("b", chain, 11);
  bench.head("c", chain, 11);
  t.equal(bench.announced(), 11n);
});

test("a validator alone is believed at once", async (t) => {
  const one = createHeadStateBench({ count: 1 });
  one.say("a", chain, 10);
  one.head("a", chain, 11);
  t.same(one.told(), [10, 11]);

  const last = fiveAtTen();
  for (const label of ["b", "c", "d", "e"]) last.fail(label);
  last.head("a", chain, 11);
  t.equal(last.announced(), 11n, "of five only one answers");
});

test("the announced number never goes back, whatever single validators say", async (t) => {
  const bench = fiveAtTen();
  for (const label of ["a", "b", "c", "d"]) {
    bench.say(label, chain, 3);
    bench.pass(10_000);
    t.equal(bench.announced(), 10n);
  }
  t.equal(bench.eligible(), "e");
  bench.head("e", chain, 11);
  bench.pass(500);
  t.equal(bench.announced(), 11n);
});

test("gaps are filled, and every block is told once and in order", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 15);
  bench.head("b", chain, 14);
  t.same(bench.told(), [10, 11, 12, 13, 14]);
  t.match(bench.asked, ["a fill"]);
  bench.say("c", chain, 138);
  bench.say("d", chain, 138);
  t.same(
    bench.told(),
    Array.from({ length: 129 }, (_, index) => index + 10),
    "128 blocks are filled at most",
  );
  t.same(
    bench.events.flatMap((event) => (event.kind === "head" ? [event.skipped] : [])),
    Array.from({ length: 129 }, () => 0n),
  );
});

test("a gap that is not filled costs the validator only", async (t) => {
  const bench = fiveAtTen();
  const { state } = bench;
  const news = chain.block(14);
  t.match(state.headed("a", news, bench.nowMs()).wants, [{ kind: "fill", label: "a", from: 11n, to: 13n }]);
  t.ok(state.isEligible("a"), "it had block 10 and nothing speaks against it");
  t.notOk(state.hasReached("a", 14n), "what is above is not known to be of our chain");
  t.same(state.headed("a", news, bench.nowMs()).wants, [], "it is not asked twice at once");
  t.match(state.settle(bench.nowMs() + 200).wants, [{ kind: "fill", label: "a" }], "but again after a while");
  bench.head("b", chain, 11);
  bench.head("c", chain, 11);
  t.equal(bench.announced(), 11n);
  t.equal(bench.eligible(), "bc");
});

test("a gap of all at once, as after an outage of our own, takes nobody out", async (t) => {
  for (const height of [14, 300]) {
    const bench = fiveAtTen();
    const { state } = bench;
    const latest = chain.block(height);
    for (const label of bench.labels) {
      const probe = { chainId: 8845n, genesisHash: chain.genesisHash, number: latest.number, latest };
      state.probed(label, { ...probe, sentAtMs: bench.nowMs() }, bench.nowMs());
    }
    t.equal(bench.announced(), 10n);
    t.equal(bench.eligible(), "abcde");
  }
});

test("further ahead than can be filled is jumped to, with its number said", async (t) => {
  const bench = fiveAtTen();
  bench.say("a", chain, 200);
  t.equal(bench.announced(), 10n);
  bench.say("b", chain, 202);
  t.same(bench.told(), [10, 200, 201, 202].slice(0, 2), "the lower of the two that have it");
  t.match(bench.events.at(-1), { kind: "head", skipped: 189n });
  t.match(bench.asked.slice(0, 2), ["a verify", "b verify"]);
  bench.say("a", chain, 202);
  t.equal(bench.announced(), 202n, "and from there step by step");
  t.equal(bench.eligible(), "ab");
});

test("one validator alone far ahead is believed after half a second, not more than 10 000 blocks", async (t) => {
  const bench = fiveAtTen();
  bench.say("a", chain, 10_010);
  bench.pass(500);
  t.equal(bench.announced(), 10_010n, "the others come after it");

  const insane = fiveAtTen();
  insane.say("a", chain, 10_011);
  insane.pass(60_000);
  t.equal(insane.announced(), 10n);
  t.equal(insane.eligible(), "bcde", "who claims such a number is not asked");
  insane.say("b", chain, 10_011);
  t.equal(insane.announced(), 10_011n, "two have it");
});

test("a validator with another block at the same height is not counted", async (t) => {
  const bench = fiveAtTen();
  const fork = chain.fork("fork", 9);
  bench.say("a", fork, 10);
  t.equal(bench.eligible(), "bcde");
  t.match(bench.state.member("a")?.standing, { kind: "diverged", at: 10n });
  bench.say("a", fork, 11);
  bench.pass(10_000);
  t.equal(bench.announced(), 10n, "nor are blocks above it");
  bench.say("a", fork, 200);
  bench.pass(10_000);
  t.equal(bench.announced(), 10n, "however far above");
  t.match(bench.state.member("a")?.standing, { kind: "diverged", at: 10n });
  bench.say("a", chain, 10);
  t.equal(bench.eligible(), "abcde", "until it is on our chain again");
});

test("of two blocks at one height the one that two have is announced", async (t) => {
  const bench = fiveAtTen();
  const fork = chain.fork("fork", 10);
  bench.head("a", fork, 11);
  bench.head("b", chain, 11);
  bench.head("c", chain, 11);
  t.equal(bench.state.head()?.hash, chain.block(11).hash);
  t.equal(bench.eligible(), "bc");
});

test("a head that came while a probe was under way is not taken back by its answer", async (t) => {
  const bench = fiveAtTen();
  bench.pass(100);
  bench.head("a", chain, 11);
  bench.head("b", chain, 11);
  bench.number("a", chain, 10, 50);
  t.equal(bench.eligible(), "ab");
  t.same(bench.asked, []);
  bench.number("a", chain, 10);
  t.match(bench.asked, ["a probe"], "an answer to a later probe is looked into");
});

test("a WebSocket head that is old or of elsewhere is looked into, not believed", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  bench.head("b", chain, 11);
  const { state } = bench;
  t.same(state.headed("a", chain.block(10), bench.nowMs()).wants, [], "a late frame of our own chain");
  t.match(state.headed("a", chain.fork("fork", 5).block(11), bench.nowMs()).wants, [
    { kind: "probe", label: "a" },
  ]);
  t.ok(state.isEligible("a"));
});

function standsStill(t: Test, seconds: number, expected: boolean, title: string): void {
  const bench = fiveAtTen();
  for (let second = 0; second < seconds; second += 1) {
    bench.pass(1000);
    for (const label of bench.labels) bench.say(label, chain, 10);
  }
  t.equal(bench.state.isStalled(bench.nowMs()), expected, title);
  t.equal(bench.eligible(), "abcde", "nobody is taken out for it");
  bench.say("a", chain, 11);
  bench.say("b", chain, 11);
  t.notOk(bench.state.isStalled(bench.nowMs()));
}

test("a chain that stands still is flagged, and nobody is taken out for it", async (t) => {
  standsStill(t, 9, false, "block times vary");
  standsStill(t, 10, true, "ten seconds without a block");
});

test("validators that do not answer do not make a stalled chain", async (t) => {
  const bench = fiveAtTen();
  for (let second = 0; second < 60; second += 1) {
    bench.pass(1000);
    for (const label of bench.labels) bench.fail(label);
  }
  t.notOk(bench.state.isStalled(bench.nowMs()));
  bench.say("a", chain, 10);
  t.notOk(bench.state.isStalled(bench.nowMs()), "who is back has not stood still yet");
  bench.pass(9000);
  bench.say("a", chain, 10);
  t.notOk(bench.state.isStalled(bench.nowMs()));
  bench.pass(1000);
  t.ok(bench.state.isStalled(bench.nowMs()));
});
