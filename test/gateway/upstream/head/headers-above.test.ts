import t from "tap";
import { createHeadersAbove } from "../../../../gateway/upstream/head/headers-above.ts";
import type { Header } from "../../../../gateway/upstream/head/read-header.ts";

const header = (number: bigint, hash: string, parentHash: string): Header => ({
  number,
  hash,
  parentHash,
  block: {},
});
const above = (...headers: Header[]) => {
  const chain = createHeadersAbove({ headersMax: 3 });
  for (const one of headers) chain.add("a", { header: one, seenAtMs: Number(one.number) });
  return chain;
};

t.test("the way down leads to the block above the head, or to the number where it breaks off", async (t) => {
  const [one, two, three] = [header(1n, "1", "0"), header(2n, "2", "1"), header(3n, "3", "2")];
  t.same(above(one, two, three).descend("a", three, 0n), {
    child: { header: one, seenAtMs: 1 },
    headers: [three, two, one],
  });
  t.same(above(one, three).descend("a", three, 0n), { missing: 2n });
  t.same(above(one, two).descend("b", three, 0n), { missing: 2n }, "another validator's blocks link nothing");
});

t.test("a parent of another height than one lower is a lie, not a circle", async (t) => {
  const [liar, tip] = [header(3n, "2", "3"), header(3n, "3", "2")];
  t.same(above(liar, tip).descend("a", tip, 0n), { missing: 2n });
});

t.test("the time of the first report stays", async (t) => {
  const one = header(1n, "1", "0");
  const chain = above(one);
  chain.add("a", { header: one, seenAtMs: 99 });
  t.match(chain.descend("a", one, 0n), { child: { seenAtMs: 1 } });
});

t.test("a validator that reports too many blocks loses its own alone", async (t) => {
  const chain = above(header(1n, "1", "0"), header(2n, "2", "1"), header(3n, "3", "2"));
  chain.add("b", { header: header(1n, "1", "0"), seenAtMs: 0 });
  chain.add("a", { header: header(4n, "4", "3"), seenAtMs: 0 });
  t.same([chain.has("a", "3"), chain.has("a", "4"), chain.has("b", "1")], [false, true, true]);
});

t.test(
  "those that reported another block of a number are named, and announced blocks are dropped",
  async (t) => {
    const chain = above(header(1n, "1", "0"), header(2n, "2", "1"));
    chain.add("b", { header: header(1n, "other", "0"), seenAtMs: 0 });
    t.same(chain.contradictedBy(header(1n, "1", "0")), ["b"]);
    chain.dropUpTo(1n);
    t.same(chain.contradictedBy(header(1n, "1", "0")), []);
    t.same([chain.has("a", "1"), chain.has("a", "2")], [false, true]);
  },
);
