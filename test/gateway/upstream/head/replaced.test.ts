import { test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createHeaderChain } from "./header-chain.ts";

test("one that takes another's name is not distrusted for what that one told", async (t) => {
  const chain = createHeaderChain("ours");
  const bench = createHeadStateBench({ count: 3 });
  for (const label of ["a", "b", "c"]) bench.say(label, chain, 10);
  bench.head("c", chain.fork("lie", 10), 11);
  t.equal(bench.announced(), 10n);
  bench.state.change({ added: [{ label: "c" }], removed: ["c"] });
  for (const label of ["c", "a", "b"]) bench.say(label, chain, 10);
  t.equal(bench.eligible(), "abc");
  for (const label of ["a", "b", "c"]) bench.head(label, chain, 11);
  t.equal(bench.announced(), 11n);
  t.equal(bench.eligible(), "abc");
});
