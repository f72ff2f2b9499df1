import { test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createHeaderChain } from "./header-chain.ts";

const chain = createHeaderChain("ours");

/** Validators a, b, c and replicas d, e, all at block 10, which is announced. */
function atTen() {
  const bench = createHeadStateBench({ count: 5, replicas: "de" });
  for (const label of bench.labels) bench.say(label, chain, 10);
  return bench;
}

test("replicas announce nothing, however many have a block", async (t) => {
  const bench = atTen();
  for (const label of ["d", "e"]) bench.head(label, chain, 11);
  bench.pass(5000);
  t.equal(bench.announced(), 10n);
  for (const label of ["a", "b"]) bench.head(label, chain, 11);
  t.equal(bench.announced(), 11n);
});

test("a replica that has the announced block may be asked, one that is behind or elsewhere may not", async (t) => {
  const bench = atTen();
  t.equal(bench.eligible(), "abcde");
  for (const label of ["a", "b", "c", "d"]) bench.head(label, chain, 11);
  t.equal(bench.eligible(), "abcd", "e is not asked of block 11");
  bench.head("e", chain.fork("lie", 10), 11);
  bench.pass(1000);
  t.equal(bench.eligible(), "abcd");
  t.equal(bench.announced(), 11n);
});

test("two replicas that lie convince nobody of another chain", async (t) => {
  const bench = createHeadStateBench({ count: 4, replicas: "cd" });
  const other = createHeaderChain("another");
  for (const label of ["c", "d"]) bench.say(label, other, 500);
  for (const label of ["a", "b"]) bench.say(label, chain, 10);
  bench.pass(20_000);
  t.equal(bench.announced(), 10n);
  t.equal(bench.eligible(), "ab");
});
