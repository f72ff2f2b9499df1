import { test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import type { HeaderChain } from "./header-chain.ts";
import { createHeaderChain } from "./header-chain.ts";

const chain = createHeaderChain("ours");
const renewed = createHeaderChain("renewed");

function allAt(height: number, count = 5) {
  const bench = createHeadStateBench({ count });
  for (const label of bench.labels) bench.say(label, chain, height);
  return bench;
}

type Bench = ReturnType<typeof allAt>;

/** For so long these validators answer each half second: this chain, this height; the others do not answer. */
function repeat(bench: Bench, labels: string, on: HeaderChain, height: number, ms: number): void {
  for (let passed = 0; passed < ms; passed += 500) {
    for (const label of bench.labels) {
      if (labels.includes(label)) bench.say(label, on, height);
      else bench.fail(label);
    }
    bench.pass(500);
  }
}

test("a chain that every validator has reverted begins anew within two seconds", async (t) => {
  const bench = allAt(10);
  repeat(bench, "abcde", chain, 7, 1000);
  t.same(bench.told(), [10], "not at once: they may come back with it");
  t.equal(bench.eligible(), "", "meanwhile nobody has what was announced");
  repeat(bench, "abcde", chain, 7, 500);
  t.same(bench.told(), [10, "epoch", 7]);
  t.equal(bench.eligible(), "abcde");
  t.match(bench.events.at(-2), { reason: "every validator is below block 10" });
});

test("so does one that was reverted and has grown to the same height or above", async (t) => {
  for (const height of [10, 11, 30, 300]) {
    const bench = allAt(10);
    repeat(bench, "abcde", chain.fork("again", 8), height, 1500);
    t.same(bench.told(), [10, "epoch", height]);
    t.match(bench.events.at(-2), { reason: "every validator has another block 10" });
  }
});

test("so does a network that was made anew with another genesis", async (t) => {
  const bench = allAt(10);
  repeat(bench, "abcde", renewed, 0, 1500);
  t.same(bench.told(), [10, "epoch", 0]);
  t.equal(bench.state.genesisHash(), renewed.genesisHash);
  t.match(bench.events.at(-2), { reason: "the network has another genesis block" });
});

test("so does a single development node that was killed before it saved", async (t) => {
  const bench = allAt(10, 1);
  repeat(bench, "", chain, 0, 3000);
  repeat(bench, "a", chain, 4, 1500);
  t.same(bench.told(), [10, "epoch", 4]);
});

test("one validator that has the head is enough for the same epoch", async (t) => {
  const bench = allAt(10);
  for (let passed = 0; passed < 60_000; passed += 500) {
    for (const label of ["a", "b", "c", "d"]) bench.say(label, chain, 7);
    bench.say("e", chain, 10);
    bench.pass(500);
  }
  t.same(bench.told(), [10]);
  t.equal(bench.eligible(), "e");
});

test("validators that are all unreachable are no new epoch, nor is their coming back", async (t) => {
  const bench = allAt(10);
  repeat(bench, "", chain, 0, 60_000);
  repeat(bench, "abcde", chain, 10, 3000);
  t.same(bench.told(), [10]);
  t.equal(bench.eligible(), "abcde");
});

test("those that were behind all along are no new epoch when the one that led is gone", async (t) => {
  const bench = allAt(10);
  bench.head("e", chain, 11);
  bench.head("d", chain, 11);
  t.equal(bench.announced(), 11n);
  repeat(bench, "abc", chain, 10, 5000);
  t.same(bench.told(), [10, 11]);
  repeat(bench, "abc", chain, 12, 500);
  t.same(bench.told(), [10, 11, 12], "they come to it and go on");
  t.equal(bench.eligible(), "abc");
});

test("where the one that led never comes back, a new epoch begins after the grace time", async (t) => {
  const bench = allAt(10);
  bench.head("e", chain, 11);
  bench.head("d", chain, 11);
  repeat(bench, "abc", chain, 10, 29_500);
  t.same(bench.told(), [10, 11]);
  repeat(bench, "abc", chain, 10, 1000);
  t.same(bench.told(), [10, 11, "epoch", 10]);
});

test("one that answers alone makes no new chain, however long the others are silent", async (t) => {
  for (const [lie, height] of [
    [chain, 3],
    [chain.fork("lie", 5), 10],
    [renewed, 50],
  ] as const) {
    const bench = allAt(10);
    repeat(bench, "a", lie, height, 120_000);
    t.same(bench.told(), [10]);
    repeat(bench, "abcde", chain, 11, 500);
    t.same(bench.told(), [10, 11]);
  }
});

test("a genesis block of one that answered alone at the start is given up for the others'", async (t) => {
  const bench = createHeadStateBench({ count: 5 });
  repeat(bench, "a", renewed, 50, 5000);
  t.equal(bench.state.genesisHash(), renewed.genesisHash);
  t.same(bench.told(), [50]);
  for (const label of ["b", "c", "d", "e"]) bench.say(label, chain, 10);
  t.same(bench.told(), [50, "epoch", 10]);
  t.equal(bench.state.genesisHash(), chain.genesisHash);
  t.equal(bench.eligible(), "bcde");
  t.match(bench.state.validator("a")?.outside, { reason: "another_chain" });
});

test("one that still tells the old chain does not keep most of the others from a new one", async (t) => {
  const bench = allAt(10);
  for (const label of ["a", "b"]) bench.say(label, renewed, 3);
  t.same(bench.told(), [10], "two of five are not most");
  bench.say("c", renewed, 3);
  t.same(bench.told(), [10, "epoch", 3]);
  t.equal(bench.eligible(), "abc");
});

test("most validators on another chain need no word of the one that is down", async (t) => {
  const reset = allAt(10);
  repeat(reset, "abcd", renewed, 3, 1500);
  t.same(reset.told(), [10, "epoch", 3]);

  const one = allAt(10);
  repeat(one, "a", renewed, 3, 10_000);
  t.same(one.told(), [10], "one of five is not the network");
});

test("validators that disagree about the new chain are waited for", async (t) => {
  const bench = allAt(10);
  for (const label of ["c", "d", "e"]) bench.say(label, chain, 3);
  for (let passed = 0; passed < 10_000; passed += 500) {
    for (const label of ["a", "b"]) bench.say(label, renewed, 3);
    for (const label of ["c", "d", "e"]) bench.say(label, chain, 3);
    bench.pass(500);
  }
  t.same(bench.told(), [10], "a network that is being started anew, one after the other");
  repeat(bench, "abcde", renewed, 3, 500);
  t.same(bench.told(), [10, "epoch", 3]);
});

test("one whose newest blocks are not linked yet may have the head, and is waited for", async (t) => {
  const bench = allAt(10);
  const latest = chain.block(14);
  const probe = { chainId: 8845n, genesis: chain.block(0), number: latest.number, latest };
  for (let passed = 0; passed < 10_000; passed += 500) {
    for (const label of ["a", "b", "c", "d"]) bench.say(label, chain, 7);
    // What it is asked for is not answered.
    bench.state.probed("e", { ...probe, sentAtMs: bench.nowMs() }, bench.nowMs());
    bench.pass(500);
  }
  t.same(bench.told(), [10]);
  bench.say("e", chain, 14);
  bench.say("d", chain, 14);
  t.same(bench.told(), [10, 11, 12, 13, 14]);
});

test("a doubt that ends in time is forgotten", async (t) => {
  const bench = allAt(10);
  for (let round = 0; round < 20; round += 1) {
    repeat(bench, "abcde", chain, 7, 1000);
    repeat(bench, "abcde", chain, 10, 500);
  }
  t.same(bench.told(), [10]);
});

test("after a new epoch nothing of the old chain is left", async (t) => {
  const bench = allAt(10);
  repeat(bench, "abcde", renewed, 5, 1500);
  bench.say("a", chain, 10);
  t.match(bench.state.validator("a")?.standing, { kind: "foreign" });
  bench.say("b", renewed, 6);
  bench.say("c", renewed, 6);
  t.same(bench.told(), [10, "epoch", 5, 6]);
});

test("what a validator told of its old chain is no head of the new one", async (t) => {
  const bench = createHeadStateBench({ count: 3 });
  for (const label of bench.labels) bench.say(label, chain, 10);
  // The answers tell the new genesis block and a number only, as they do while heads come by WebSocket.
  const probe = { chainId: 8845n, genesis: renewed.block(0), number: 2n, latest: undefined };
  for (const label of bench.labels) {
    const { lookups } = bench.state.probed(label, { ...probe, sentAtMs: bench.nowMs() }, bench.nowMs());
    t.match(lookups, [{ kind: "probe", label }], "it is asked for its block");
  }
  for (const label of bench.labels) bench.say(label, renewed, 2);
  bench.pass(1500);
  t.same(bench.told(), [10, "epoch", 2]);
  t.equal(bench.state.head()?.hash, renewed.block(2).hash);
});
