import { type Test, test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createHeaderChain } from "./header-chain.ts";

const chain = createHeaderChain("ours");

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

test("where validators differ the first head is the highest that two have, after the others had their time", async (t) => {
  const bench = createHeadStateBench({ count: 4 });
  bench.say("a", chain, 9);
  bench.say("b", chain, 12);
  bench.say("c", chain, 12);
  bench.say("d", chain.fork("fork", 10), 12);
  bench.pass(499);
  t.same(bench.told(), [], "a gateway that was started anew must not begin below what it said before");
  bench.pass(1);
  t.same(bench.told(), [12]);
  t.equal(bench.eligible(), "bc");
});

test("of two validators the first head is the higher one's", async (t) => {
  const bench = createHeadStateBench({ count: 2 });
  bench.say("a", chain, 9);
  bench.say("b", chain, 12);
  bench.pass(500);
  t.same(bench.told(), [12]);
});

test("one validator alone decides no first head, whatever it tells", async (t) => {
  const fork = chain.fork("fork", 9);
  for (const [lie, height, first] of [
    [chain, 3, 10],
    [fork, 10, 10],
    [fork, 11, 10],
    [fork, 5000, 10],
  ] as const) {
    const bench = createHeadStateBench({ count: 4 });
    bench.say("a", lie, height);
    for (const label of ["b", "c", "d"]) bench.say(label, chain, 10);
    bench.pass(500);
    t.equal(bench.state.head()?.hash, chain.block(first).hash);
    bench.pass(5000);
    t.same(bench.told(), [first]);
    t.equal(bench.eligible(), "bcd", "and it is not asked");
  }
});

test("where all tell different blocks the second highest is the first head, after two seconds", async (t) => {
  const bench = createHeadStateBench({ count: 3 });
  bench.say("a", chain, 9);
  bench.say("b", chain, 12);
  bench.say("c", chain, 16);
  bench.pass(1999);
  t.same(bench.told(), []);
  bench.pass(1);
  t.same(bench.told(), [12]);
});

test("a block is announced when a second validator has it", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  t.equal(bench.announced(), 10n);
  t.equal(bench.eligible(), "abcde", "nobody is ejected by a block that is not announced");
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

test("a block that one validator alone has waits while two others answer, and that is told", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  bench.pass(499);
  t.equal(bench.eligible(), "abcde", "the others may come to it");
  t.same(bench.state.waiting(bench.nowMs()), []);
  bench.pass(1);
  t.equal(bench.announced(), 10n);
  t.equal(bench.eligible(), "bcde", "it may be a lie");
  t.match(bench.state.validator("a")?.outside, { reason: "alone", words: "nobody else has its block 11" });
  t.same(bench.state.waiting(bench.nowMs()), [{ number: 11n, hash: chain.block(11).hash, having: ["a"] }]);
  bench.pass(60_000);
  t.equal(bench.announced(), 10n);
  for (const label of ["b", "c"]) bench.fail(label);
  bench.fail("d");
  bench.pass(500);
  t.equal(bench.announced(), 11n, "one other answers: it may be late");
  t.equal(bench.eligible(), "a");
  t.same(bench.state.waiting(bench.nowMs()), []);
});

test("of two validators one that nobody follows to is believed after half a second", async (t) => {
  const bench = createHeadStateBench({ count: 2 });
  for (const label of bench.labels) bench.say(label, chain, 10);
  bench.head("a", chain, 11);
  bench.pass(499);
  t.equal(bench.announced(), 10n);
  bench.pass(1);
  t.equal(bench.announced(), 11n);
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
  bench.say("d", chain, 11);
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
  t.match(state.headed("a", news, bench.nowMs()).lookups, [{ kind: "fill", label: "a", from: 11n, to: 13n }]);
  t.ok(state.isEligible("a"), "it had block 10 and nothing speaks against it");
  t.equal(state.validator("a")?.holds, 10n, "what is above is not known to be of our chain");
  t.same(state.headed("a", news, bench.nowMs()).lookups, [], "it is not asked twice at once");
  t.match(
    state.settle(bench.nowMs() + 200).lookups,
    [{ kind: "fill", label: "a" }],
    "but again after a while",
  );
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
      const probe = { chainId: 8845n, genesis: chain.block(0), number: latest.number, latest };
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

test("one validator alone far ahead is not believed while another answers", async (t) => {
  for (const height of [5010, 10_010, 10_011]) {
    const bench = fiveAtTen();
    bench.say("a", chain, height);
    bench.pass(60_000);
    t.equal(bench.announced(), 10n);
    t.equal(bench.eligible(), "bcde", "who claims such a number is not asked");
    for (let number = 11; number < 15; number += 1) {
      for (const label of ["b", "c", "d", "e"]) bench.say(label, chain, number);
      t.equal(bench.announced(), BigInt(number), "the chain goes on");
      t.equal(bench.eligible(), "bcde");
    }
    bench.say("b", chain, height);
    t.equal(bench.announced(), BigInt(height), "two have it");
  }
  const two = createHeadStateBench({ count: 2 });
  for (const label of two.labels) two.say(label, chain, 10);
  two.say("a", chain, 5010);
  two.pass(60_000);
  t.equal(two.announced(), 10n, "also where there are only two");
  two.fail("b");
  two.pass(500);
  t.equal(two.announced(), 5010n, "and no longer where nobody else answers");
});

test("a lower jump of one and a higher one of another are none that two have", async (t) => {
  const bench = fiveAtTen();
  const fork = chain.fork("fork", 10);
  bench.say("a", fork, 200);
  bench.say("b", chain, 5000);
  bench.pass(5000);
  t.same(bench.told(), [10]);
  bench.say("c", chain, 5001);
  bench.pass(500);
  t.equal(bench.state.head()?.hash, chain.block(5000).hash);
});

test("a validator with another block at the same height is not counted", async (t) => {
  const bench = fiveAtTen();
  const fork = chain.fork("fork", 9);
  bench.say("a", fork, 10);
  t.equal(bench.eligible(), "bcde");
  t.match(bench.state.validator("a")?.standing, { kind: "diverged", at: 10n });
  bench.say("a", fork, 11);
  bench.pass(10_000);
  t.equal(bench.announced(), 10n, "nor are blocks above it");
  bench.say("a", fork, 200);
  bench.pass(10_000);
  t.equal(bench.announced(), 10n, "however far above");
  t.match(bench.state.validator("a")?.standing, { kind: "diverged", at: 10n });
  bench.say("a", chain, 10);
  t.equal(bench.eligible(), "abcde", "until it is on our chain again");
});

test("of two blocks at one height the one that most validators have is announced at once", async (t) => {
  const bench = fiveAtTen();
  const fork = chain.fork("fork", 10);
  bench.head("a", fork, 11);
  bench.head("b", chain, 11);
  bench.pass(5000);
  t.equal(bench.announced(), 10n, "one has the one, one the other");
  bench.head("c", chain, 11);
  bench.head("d", chain, 11);
  t.equal(bench.state.head()?.hash, chain.block(11).hash);
  t.equal(bench.eligible(), "bcd");
  t.match(bench.state.validator("a")?.outside, { reason: "another_block", words: "it has another block 11" });
});

test("who told another block than the announced one is not asked for a while, whatever it tells then", async (t) => {
  const bench = fiveAtTen();
  const tellTruth = (height: number) => {
    for (const label of ["b", "c", "d", "e"]) bench.say(label, chain, height);
  };
  // On top of each true block a false one: never is it on another chain for longer than a block takes.
  for (let height = 11; height < 20; height += 1) {
    bench.head("a", chain.fork("lie", height - 1), height);
    tellTruth(height);
    bench.say("a", chain, height);
    t.equal(bench.eligible(), "bcde");
    bench.pass(2000);
    t.match(bench.state.validator("a")?.outside, {
      reason: "another_block",
      words: `it told another block ${height}`,
    });
  }
  bench.pass(7999);
  t.equal(bench.eligible(), "bcde");
  bench.pass(1);
  t.equal(bench.eligible(), "abcde", "ten seconds after the last");
});

test("of two blocks at one height the one that two have is announced where the others have neither", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain.fork("fork", 10), 11);
  bench.head("b", chain, 11);
  bench.head("c", chain, 11);
  t.equal(bench.announced(), 10n);
  bench.pass(500);
  t.equal(bench.state.head()?.hash, chain.block(11).hash);
});

test("a tie changes nothing, and is told", async (t) => {
  const bench = createHeadStateBench({ count: 4 });
  for (const label of bench.labels) bench.say(label, chain, 10);
  const fork = chain.fork("fork", 10);
  for (const label of ["a", "b"]) bench.head(label, fork, 11);
  t.equal(bench.state.head()?.hash, fork.block(11).hash, "two of four are the first to have one");
  for (const label of ["c", "d"]) bench.head(label, chain, 11);
  bench.pass(60_000);
  t.same(bench.told(), [10, 11]);
  t.equal(bench.eligible(), "ab");

  const even = createHeadStateBench({ count: 4 });
  for (const label of even.labels) even.say(label, chain, 10);
  for (const [label, on] of [
    ["a", fork],
    ["c", chain],
    ["b", fork],
    ["d", chain],
  ] as const)
    even.head(label, on, 11);
  even.pass(60_000);
  t.same(even.told(), [10]);
  t.equal(even.eligible(), "abcd", "all have block 10");
  t.match(even.state.waiting(even.nowMs()), [{ having: ["a", "b"] }, { having: ["c", "d"] }]);
});

test("who tells a true hash with a false parent cuts off nobody but itself", async (t) => {
  const bench = fiveAtTen();
  const truth = chain.block(11);
  const lie = { ...truth, parentHash: chain.block(3).hash };
  bench.state.headed("a", lie, bench.nowMs());
  for (const label of ["b", "c", "d", "e"]) bench.head(label, chain, 11);
  t.equal(bench.announced(), 11n);
  t.match(bench.eligible(), /bcde$/);
});

test("a lie that was announced while its teller was alone is given up when most validators tell another block", async (t) => {
  for (const height of [11, 13, 300]) {
    const bench = fiveAtTen();
    const lie = chain.fork("lie", 10);
    for (const label of ["b", "c", "d", "e"]) for (let times = 0; times < 2; times += 1) bench.fail(label);
    bench.say("a", lie, height);
    bench.pass(500);
    t.equal(bench.state.head()?.hash, lie.block(height).hash);
    bench.say("b", chain, height);
    t.equal(bench.told().includes("epoch"), false, "one against one is no majority");
    bench.say("c", chain, height);
    t.equal(bench.state.head()?.hash, chain.block(height).hash, "two against one");
    t.match(
      bench.events.find(({ kind }) => kind === "epoch"),
      { reason: /^most validators have another chain/ },
    );
    for (const label of ["d", "e"]) bench.say(label, chain, height);
    t.equal(bench.eligible(), "bcde");
    bench.say("a", lie, height + 1);
    bench.pass(60_000);
    t.equal(bench.eligible(), "bcde");
    t.equal(bench.told().filter((told) => told === "epoch").length, 1);
  }
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
  t.same(state.headed("a", chain.block(10), bench.nowMs()).lookups, [], "a late frame of our own chain");
  t.match(state.headed("a", chain.fork("fork", 5).block(11), bench.nowMs()).lookups, [
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
  t.equal(bench.eligible(), "abcde", "nobody is ejected for it");
  bench.say("a", chain, 11);
  bench.say("b", chain, 11);
  t.notOk(bench.state.isStalled(bench.nowMs()));
}

test("a chain that stands still is flagged, and nobody is ejected for it", async (t) => {
  standsStill(t, 9, false, "block times vary");
  standsStill(t, 10, true, "ten seconds without a block");
});

test("a chain of which nobody tells anything is flagged as one that stands still, until there is a new block", async (t) => {
  const bench = fiveAtTen();
  const { state } = bench;
  for (let second = 0; second < 9; second += 1) {
    bench.pass(1000);
    for (const label of bench.labels) bench.fail(label);
  }
  t.notOk(state.isStalled(bench.nowMs()));
  t.equal(state.answering(bench.nowMs()), 0);
  bench.pass(1000);
  t.ok(state.isStalled(bench.nowMs()), "by the clock, though no news came");
  bench.say("a", chain, 10);
  t.equal(state.answering(bench.nowMs()), 1);
  t.ok(state.isStalled(bench.nowMs()), "who is back with the same block brings nothing new");
  t.equal(state.ageMs(bench.nowMs()), 10_000);
  bench.say("b", chain, 11);
  bench.say("a", chain, 11);
  t.notOk(state.isStalled(bench.nowMs()));
  t.equal(state.ageMs(bench.nowMs()), 0);
});

test("a proof that a validator answers grows old by the clock, without another word", async (t) => {
  const bench = fiveAtTen();
  t.equal(bench.state.answering(bench.nowMs()), 5);
  bench.pass(3999);
  t.equal(bench.state.answering(bench.nowMs()), 5);
  bench.head("c", chain, 11);
  bench.pass(1);
  t.equal(bench.state.answering(bench.nowMs()), 1, "a head that it brought is one, too");
});
