import { readFileSync } from "node:fs";
import { type Test, test } from "tap";
import { createHeaderProof } from "../../../../gateway/upstream/head/header-proof.ts";
import type { Header } from "../../../../gateway/upstream/head/read-header.ts";
import { judgeSeals } from "../../../../lib/ibft/judge-seals.ts";
import { createHeadStateBench } from "./head-state-bench.ts";
import type { HeaderChain } from "./header-chain.ts";
import { alter, createSealedHeaderChain, mustReadHeader, signersOf } from "./sealed-header-chain.ts";

const five = signersOf("one", "two", "three", "four", "five");
const four = five.slice(0, 4);
const chain = createSealedHeaderChain("ours", () => ({ validators: five, sealers: four }));
/** A liar has its own key, and whatever it likes besides. */
const liar = five.slice(0, 1);

function fiveAtTen(on: HeaderChain = chain) {
  const bench = createHeadStateBench({ count: 5, genesisHash: on.genesisHash });
  for (const label of bench.labels) bench.say(label, on, 10);
  return bench;
}

/** The chain up to `at`, and blocks of the liar's own above it. */
function lieFrom(at: number, sealers = liar, validators = five): HeaderChain {
  return createSealedHeaderChain("lie", () => ({ validators, sealers }), { chain, at });
}

/** A chain like another but for one block, as the liar tells it. */
function telling(on: HeaderChain, told: Header): HeaderChain {
  return { ...on, block: (number) => (BigInt(number) === told.number ? told : on.block(number)) };
}

test("a block that one validator alone has is announced when its seals prove it", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 11);
  t.equal(bench.announced(), 10n, "a moment for a second one, so that reads do not all go to the first");
  bench.pass(100);
  t.equal(bench.announced(), 11n);
  t.equal(bench.eligible(), "a");
  bench.say("b", chain, 11);
  t.equal(bench.eligible(), "ab");
  bench.say("b", chain, 12);
  bench.say("c", chain, 12);
  t.equal(bench.announced(), 12n, "at once where two have it");
});

test("a block without a quorum of seals is never announced, whoever else answers", async (t) => {
  const bench = fiveAtTen();
  const lie = lieFrom(10);
  bench.head("a", lie, 11);
  bench.pass(60_000);
  t.equal(bench.announced(), 10n);
  t.match(bench.state.validator("a")?.outside, {
    reason: "no_seals",
    words: /block 11 has no quorum of seals/,
  });
  t.equal(bench.eligible(), "bcde", "who tells such a block is not asked");
  for (const label of ["b", "c", "d", "e"]) for (let times = 0; times < 2; times += 1) bench.fail(label);
  bench.say("a", lie, 12);
  bench.pass(60_000);
  t.same(bench.told(), [10], "nor where nobody else answers, nor as a new chain");
  bench.say("b", chain, 11);
  bench.pass(100);
  t.equal(bench.state.head()?.hash, chain.block(11).hash);
  t.match(bench.state.validator("a")?.standing, { kind: "diverged", at: 11n });
});

for (const [title, lie] of Object.entries({
  "three of five": lieFrom(10, five.slice(0, 3)),
  "the same validator four times": lieFrom(10, [...liar, ...liar, ...liar, ...liar]),
  "four strangers, who stand in no header": lieFrom(10, signersOf("w", "x", "y", "z")),
  "four strangers, who stand in its header": lieFrom(
    10,
    signersOf("w", "x", "y", "z"),
    signersOf("v", "w", "x", "y", "z"),
  ),
  "the liar and three strangers, who stand in its header": lieFrom(
    10,
    [...liar, ...signersOf("x", "y", "z")],
    [...liar, ...signersOf("w", "x", "y", "z")],
  ),
})) {
  test(`a block sealed by ${title} is not announced`, async (t) => {
    const bench = fiveAtTen();
    for (const [label, height] of [
      ["a", 11],
      ["b", 12],
    ] as const)
      bench.say(label, lie, height);
    bench.pass(60_000);
    t.same(bench.told(), [10], "also where two tell it");
    for (const label of ["c", "d", "e"]) bench.say(label, chain, 11);
    t.equal(bench.state.head()?.hash, chain.block(11).hash);
    t.equal(bench.eligible(), "cde");
  });
}

test("another block cannot borrow the hash or the seals of a true one", async (t) => {
  const truth = chain.block(11);
  const seals = truth.block["extraData"];
  const otherContent = alter(truth, { stateRoot: `0x${"66".repeat(32)}` });
  const otherHash = alter(lieFrom(10).block(11), { extraData: seals });
  const noSeals = alter(truth, { extraData: lieFrom(10, []).block(11).block["extraData"] });
  for (const told of [otherContent, otherHash, noSeals]) {
    const bench = fiveAtTen();
    bench.head("a", telling(chain, told), 11);
    bench.pass(60_000);
    t.same(bench.told(), [10]);
    bench.head("b", chain, 11);
    bench.head("c", chain, 11);
    t.same(bench.state.head()?.block, truth.block, "what is told is what the hash stands for");
  }
});

test("a true block is not lost where the first to tell it lies of its seals or its parent", async (t) => {
  const truth = chain.block(11);
  for (const told of [
    alter(truth, { extraData: lieFrom(10, []).block(11).block["extraData"] }),
    alter(truth, { parentHash: `0x${"77".repeat(32)}` }),
  ]) {
    const bench = fiveAtTen();
    bench.head("a", telling(chain, told), 11);
    for (const label of ["b", "c", "d", "e"]) bench.head(label, chain, 11);
    t.same(bench.state.head()?.block, truth.block);
    t.match(bench.eligible(), /bcde$/);
  }
});

function jumpsTo(t: Test, lie: HeaderChain, height: number): void {
  const bench = fiveAtTen();
  bench.say("a", lie, height);
  bench.pass(60_000);
  t.equal(bench.announced(), 10n);
  t.equal(bench.eligible(), "bcde", "and it is not asked");
  for (let number = 11; number < 20; number += 1) {
    for (const label of ["b", "c", "d", "e"]) bench.say(label, chain, number);
    t.equal(bench.announced(), BigInt(number), "the chain goes on");
    t.equal(bench.eligible(), "bcde");
  }
  t.notOk(bench.told().includes("epoch"));
}

test("a liar's jump is not followed, linked or not", async (t) => {
  jumpsTo(t, lieFrom(10), 60);
  jumpsTo(t, lieFrom(10), 5010);
  jumpsTo(t, lieFrom(10, five.slice(0, 3)), 5010);
});

test("a jump that seals prove is followed, though one validator alone has made it", async (t) => {
  const bench = fiveAtTen();
  bench.say("a", chain, 300);
  bench.pass(100);
  t.equal(bench.announced(), 300n);
});

test("gaps are filled on the word of one, since the newest block's seals prove those below it", async (t) => {
  const bench = fiveAtTen();
  bench.head("a", chain, 15);
  bench.pass(1000);
  t.same(bench.told(), [10, 11, 12, 13, 14, 15]);
});

test("a gap is not filled with blocks that are not what their hashes stand for", async (t) => {
  const bench = fiveAtTen();
  const told = alter(chain.block(11), { transactions: ["0x00"], gasUsed: "0x5208" });
  bench.head("a", telling(chain, told), 12);
  bench.pass(60_000);
  t.same(bench.told(), [10]);
  bench.head("b", chain, 12);
  bench.head("c", chain, 12);
  t.same(bench.told(), [10, 11, 12]);
  t.same(
    bench.events.flatMap((event) => (event.kind === "head" ? [event.header.block["gasUsed"]] : [])),
    ["0x0", "0x0", "0x0"],
  );
});

test("the validators may change by votes: out, in, and one after the other", async (t) => {
  const six = signersOf("one", "two", "three", "four", "five", "six");
  const setAt = (number: number) =>
    number < 12 ? five : number < 14 ? four : number < 16 ? six.slice(1) : six;
  const voted = createSealedHeaderChain("voted", (number) => {
    const validators = setAt(number);
    return { validators, sealers: validators.slice(0, Math.ceil((2 * validators.length) / 3)) };
  });
  const bench = fiveAtTen(voted);
  for (let number = 11; number <= 20; number += 1) {
    bench.head("a", voted, number);
    bench.pass(500);
    t.equal(bench.announced(), BigInt(number));
  }
});

test("the first head is the highest that is proven, whatever a liar tells", async (t) => {
  for (const [lie, height] of [
    [lieFrom(9), 10],
    [lieFrom(10), 11],
    [lieFrom(10), 5010],
    [chain, 3],
  ] as const) {
    const bench = createHeadStateBench({ count: 5 });
    bench.say("a", lie, height);
    for (const label of ["b", "c", "d", "e"]) bench.say(label, chain, label === "b" ? 10 : 9);
    bench.pass(500);
    t.equal(bench.state.head()?.hash, chain.block(10).hash);
  }
});

test("a liar that answers alone at the start is not believed where its seals are bad", async (t) => {
  const bench = createHeadStateBench({ count: 5, genesisHash: chain.genesisHash });
  for (const label of ["b", "c", "d", "e"]) bench.fail(label);
  bench.say("a", lieFrom(10), 12);
  bench.pass(60_000);
  t.same(bench.told(), []);
  bench.say("b", chain, 11);
  bench.pass(1000);
  t.equal(bench.announced(), 11n);
});

test("two liars of five are no new chain, and neither is a proven head given up for a few that answer", async (t) => {
  const bench = fiveAtTen();
  for (const label of ["c", "d"]) for (let times = 0; times < 2; times += 1) bench.fail(label);
  const lie = lieFrom(8, five.slice(0, 2));
  for (let passed = 0; passed < 60_000; passed += 500) {
    bench.say("a", lie, 10);
    bench.say("b", lie, 10);
    bench.say("e", chain, 10);
    bench.pass(500);
  }
  t.same(bench.told(), [10]);
  t.equal(bench.eligible(), "e");
});

test("a header of a form that is not known is announced when most of all validators have it", async (t) => {
  const bench = fiveAtTen();
  // A fork has put a field into headers that is hashed, and of which nothing is known here.
  const forked: HeaderChain = {
    ...chain,
    block: (number) => (number < 11 ? chain.block(number) : alter(chain.block(number), { gasUsed: "0x1" })),
  };
  for (const label of ["a", "b"]) bench.head(label, forked, 11);
  bench.pass(60_000);
  t.equal(bench.announced(), 10n, "two of five");
  bench.head("c", forked, 11);
  t.equal(bench.announced(), 11n);
  bench.head("a", forked, 12);
  bench.head("b", forked, 12);
  t.equal(bench.announced(), 12n, "from there on validators are counted");
});

test("a flood of false headers costs a bounded number of signatures", async (t) => {
  let judged = 0;
  const proof = createHeaderProof({
    proofsPerSecondMax: 8,
    provenMax: 10,
    judgeSeals(...header) {
      judged += 1;
      return judgeSeals(...header);
    },
  });
  proof.beginWith(chain.block(0));
  const lie = lieFrom(10, five.slice(0, 3));
  for (let number = 11; number < 100; number += 1) proof.judge(lie.block(number), "a", 1000 + number);
  t.equal(judged, 8, "within a second");
  t.equal(proof.judge(chain.block(11), "b", 1100), "proven", "the others' are proven all the same");
  t.equal(proof.judge(lie.block(11), "a", 2000), "refuted");
  t.equal(proof.judge(lie.block(99), "a", 2000), "refuted", "a second later it is looked at again");
  const claimed = signersOf(...Array.from({ length: 11 }, (_, index) => `many ${index}`));
  const many = lieFrom(10, claimed, claimed).block(11);
  t.equal(proof.judge(many, "c", 1100), "unknown", "nor are more than twice as many validators looked at");
});

test("a flood of false headers keeps nobody from the true one", async (t) => {
  const bench = fiveAtTen();
  const lie = lieFrom(10, five.slice(0, 3));
  for (let number = 11; number < 300; number += 1) bench.head("a", lie, number);
  bench.head("b", chain, 11);
  bench.head("c", chain, 11);
  t.equal(bench.announced(), 11n);
});

test("nor do headers that all have one hash", async (t) => {
  const bench = fiveAtTen();
  const told = lieFrom(10).block(11);
  const hash = `0x${"11".repeat(32)}`;
  for (let number = 11; number < 50; number += 1) {
    bench.state.headed("a", alter(told, { hash, number: `0x${number.toString(16)}` }), bench.nowMs());
  }
  bench.head("b", chain, 11);
  bench.head("c", chain, 11);
  t.equal(bench.announced(), 11n);
});

const vector = (name: string) => readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), "utf8");
/** 46 blocks of five real validators in a row; one was down for some of them. */
const recorded: Record<string, unknown>[] = JSON.parse(vector("besu-blocks.json"));

test("blocks of real Besu are proven one after the other, and none with anything changed", async (t) => {
  const proof = createHeaderProof({ proofsPerSecondMax: 1000, provenMax: 1000 });
  const headers = recorded.map(mustReadHeader);
  const [first, ...later] = headers;
  if (first === undefined) throw new Error("nothing was recorded");
  proof.announced(first);
  t.ok(proof.isSealed());
  for (const header of later) {
    const changed = alter(header, { gasUsed: "0x5208" });
    t.equal(
      proof.judge(changed, "a", 0),
      "unknown",
      `block ${header.number}, changed: its hash is not its own`,
    );
    t.equal(proof.judge(header, "a", 0), "proven", `block ${header.number}`);
    proof.announced(header);
  }
});

test("one block is proven as each of five real validators keeps it", async (t) => {
  const blocks: Record<string, string>[] = JSON.parse(vector("besu-extra-data-of-five.json"));
  t.equal(blocks.length, 5);
  for (const { number: _number, hash, ...copies } of blocks) {
    const block = recorded.find((candidate) => candidate["hash"] === hash);
    for (const extraData of Object.values(copies)) {
      const proof = createHeaderProof({ proofsPerSecondMax: 1000, provenMax: 1000 });
      proof.announced(mustReadHeader(recorded[0]));
      t.equal(proof.judge(mustReadHeader({ ...block, extraData }), "a", 0), "proven");
    }
  }
});
