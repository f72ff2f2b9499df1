import fc from "fast-check";
import t from "tap";
import { createFairQueue, lightTurns, type Turns } from "../../../../gateway/upstream/pool/fair-queue.ts";
import {
  createPlans,
  createUpstreamCall,
  type UpstreamCall,
} from "../../../../gateway/upstream/pool/upstream-call.ts";
import { callTo } from "./start-pool.ts";
import "../../../helpers/property-seed.ts";

const planOf = createPlans();
const plan = planOf(callTo("web3_sha3").rule);

function askOf(group: string, name: string | number = ""): UpstreamCall {
  return createUpstreamCall({ plan, paramsText: `["${name}"]`, deadlineMs: 0, group, settle: () => {} });
}

const groupsOf = (asks: readonly UpstreamCall[]) => asks.map(({ group }) => group).join("");
const limits = { callsMax: 4, paramsBytesMax: 1_000_000 };
const oneATime: Turns = { ...lightTurns, perTurn: 1, costOf: () => 1 };

t.test("what fits into one request leaves as it came", async (t) => {
  const queue = createFairQueue(oneATime);
  for (const group of "abab") queue.push(askOf(group));
  t.equal(groupsOf(queue.take(limits)), "abab");
  t.equal(queue.count(), 0);
});

t.test("of what has to wait each key gets its turn, whoever came first with how much", async (t) => {
  const queue = createFairQueue(oneATime);
  for (let count = 0; count < 10; count += 1) queue.push(askOf("a"));
  t.equal(groupsOf(queue.take(limits)), "aaaa");
  for (const group of "bbc") queue.push(askOf(group));
  t.equal(groupsOf(queue.take(limits)), "bcab");
  t.equal(groupsOf(queue.take(limits)), "aaaa");
  t.equal(groupsOf(queue.take(limits)), "a");
  t.equal(queue.count(), 0);
});

t.test("turns are equal in what calls cost, not in how many they are", async (t) => {
  const costs: Record<string, number> = { a: 10, b: 1 };
  const queue = createFairQueue({ ...oneATime, perTurn: 10, costOf: ({ group = "" }) => costs[group] ?? 1 });
  for (let count = 0; count < 30; count += 1) queue.push(askOf("a"));
  for (let count = 0; count < 30; count += 1) queue.push(askOf("b"));
  t.equal(groupsOf(queue.take({ ...limits, callsMax: 22 })), "abbbbbbbbbbabbbbbbbbbb");
});

t.test("where keys do not share arrays each array is of one, and as long as its calls allow", async (t) => {
  const queue = createFairQueue({
    ...oneATime,
    perTurn: 8,
    isMixed: false,
    callsMaxOf: ({ group }) => (group === "slow" ? 1 : 8),
  });
  for (const group of ["slow", "slow", "quick", "slow", "quick", "quick"]) queue.push(askOf(group));
  const arrays: string[][] = [];
  while (queue.count() > 0)
    arrays.push(queue.take({ ...limits, callsMax: 8 }).map(({ group }) => group ?? ""));
  t.strictSame(
    arrays.filter((array) => array.includes("slow")),
    [["slow"], ["slow"], ["slow"]],
  );
  t.strictSame(
    arrays.filter((array) => !array.includes("slow")),
    [["quick", "quick", "quick"]],
  );
});

t.test("a full queue makes room at the cost of the key that fills it", async (t) => {
  const queue = createFairQueue(oneATime);
  for (let count = 0; count < 5; count += 1) queue.push(askOf("a", count));
  queue.push(askOf("b", "only"));
  t.equal(queue.makeRoom("a"), undefined);
  t.match(queue.makeRoom("c"), { group: "a", paramsText: '["4"]' });
  t.match(queue.makeRoom("b"), { group: "a", paramsText: '["3"]' });
  t.equal(queue.count(), 4);
});

t.test("nothing is lost or taken twice, in each key's own order, whatever comes and goes", async () => {
  const step = fc.oneof(
    fc.record({ push: fc.constantFrom("a", "b", "c", "d"), alone: fc.boolean() }),
    fc.record({ take: fc.integer({ min: 1, max: 6 }) }),
    fc.constant({ settle: true }),
    fc.constant({ drop: true }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, isMixed) => {
      const queue = createFairQueue({ ...oneATime, perTurn: 3, isMixed });
      const waiting = new Map<string, number[]>();
      let last: UpstreamCall | undefined;
      const take = (callsMax: number) => {
        const taken = queue.take({ callsMax, paramsBytesMax: 1_000_000 });
        if (taken.length > callsMax) throw new Error("too many");
        if (taken.length > 1 && taken.some(({ alone }) => alone)) throw new Error("not alone");
        if (!isMixed && new Set(taken.map(({ group }) => group)).size > 1) throw new Error("mixed");
        for (const { group = "", paramsText } of taken) {
          const next = waiting.get(group)?.shift();
          if (paramsText !== `["${next}"]`) throw new Error(`${paramsText} instead of ${next}`);
        }
        return taken.length;
      };
      for (const [index, done] of steps.entries()) {
        if ("push" in done) {
          last = askOf(done.push, index);
          last.alone = done.alone;
          queue.push(last);
          waiting.set(done.push, [...(waiting.get(done.push) ?? []), index]);
        } else if ("take" in done) take(done.take);
        else if ("drop" in done) queue.dropSettled();
        else if (last?.settled === false) {
          const { group = "", paramsText } = last;
          last.settled = true;
          waiting.set(
            group,
            (waiting.get(group) ?? []).filter((one) => paramsText !== `["${one}"]`),
          );
        }
      }
      queue.dropSettled();
      const left = [...waiting.values()].reduce((sum, { length }) => sum + length, 0);
      if (queue.count() !== left) throw new Error(`${queue.count()} instead of ${left}`);
      let taken = 0;
      while (queue.count() > 0) taken += take(5);
      return taken === left;
    }),
    { numRuns: 500 },
  );
});
