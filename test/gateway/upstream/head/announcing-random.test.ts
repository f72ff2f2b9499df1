import fc from "fast-check";
import { test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createScriptedChain } from "./scripted-chain.ts";

const chain = createScriptedChain("ours");
const foreign = createScriptedChain("foreign");
const fork = chain.fork("fork", 12);

const faulty = fc.constantFrom("a", "b", "c", "d");
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("mine"), blocks: fc.constantFrom(1, 1, 1, 1, 3, 140) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("probe"), label: faulty, behind: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("head"), label: faulty, behind: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fail"), label: faulty }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("foreign"), label: faulty, height: fc.nat(2000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fork"), label: faulty, height: fc.nat(2000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forkHead"), label: faulty, height: fc.nat(2000) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.nat(900) }) },
);
type Action = {
  kind: string;
  label?: string;
  blocks?: number;
  behind?: number;
  height?: number;
  ms?: number;
};

test("whatever four of five say, the fifth keeps the head true, in order and going on", async (t) => {
  const seed = 20_261_121;
  const property = fc.property(fc.array(action, { minLength: 5, maxLength: 80 }), (actions) => {
    const bench = createHeadStateBench({ count: 5, genesisHash: chain.genesisHash });
    let height = 20;
    for (const label of bench.labels) bench.say(label, chain, height);
    for (const one of actions) {
      height = act(bench, one, height);
      // The fifth is never at fault: it says the truth twice a second.
      bench.say("e", chain, height);
    }
    for (let round = 0; round < 4; round += 1) {
      bench.pass(500);
      bench.say("e", chain, height);
    }
    return verdictOn(bench, height);
  });
  const result = fc.check(property, { seed, numRuns: 400 });
  t.notOk(result.failed, JSON.stringify({ counterexample: result.counterexample, seed: result.seed }));
});

function act(bench: ReturnType<typeof createHeadStateBench>, one: Action, height: number): number {
  const { kind, label = "a", blocks = 0, behind = 0, height: claimed = 0, ms = 0 } = one;
  if (kind === "mine") return height + blocks;
  if (kind === "probe") bench.say(label, chain, height - behind);
  else if (kind === "head") bench.head(label, chain, height - behind);
  else if (kind === "fail") bench.fail(label);
  else if (kind === "foreign") bench.say(label, foreign, claimed);
  else if (kind === "fork") bench.say(label, fork, claimed);
  else if (kind === "forkHead") bench.head(label, fork, claimed);
  else bench.pass(ms);
  return height;
}

function verdictOn(bench: ReturnType<typeof createHeadStateBench>, height: number): boolean {
  let last: { number: bigint; hash: string } | undefined;
  for (const event of bench.events) {
    if (event.kind === "epoch") return false;
    if (event.kind === "genesis") continue;
    const { header, skipped } = event;
    if (header.hash !== chain.block(Number(header.number)).hash) return false;
    if (last !== undefined && header.number !== last.number + 1n + skipped) return false;
    if (last !== undefined && skipped === 0n && header.parentHash !== last.hash) return false;
    last = header;
  }
  return last?.number === BigInt(height) && bench.state.isEligible("e");
}
