import fc from "fast-check";
import { test } from "tap";
import { createHeadStateBench } from "./head-state-bench.ts";
import { createHeaderChain, type HeaderChain } from "./header-chain.ts";
import { createSealedHeaderChain, signersOf } from "./sealed-header-chain.ts";

type Chains = { chain: HeaderChain; foreign: HeaderChain; fork: HeaderChain };

const counted: Chains = chainsOf(createHeaderChain("ours"), (chain) => chain.fork("fork", 12));
const two = signersOf("one", "two");
/** A fork of a sealed chain has whatever seals one validator can make. */
const sealed: Chains = chainsOf(
  createSealedHeaderChain("ours", () => ({ validators: two, sealers: two })),
  (chain) =>
    createSealedHeaderChain("fork", () => ({ validators: two, sealers: two.slice(1) }), { chain, at: 12 }),
);

function chainsOf(chain: HeaderChain, forkOf: (chain: HeaderChain) => HeaderChain): Chains {
  return { chain, foreign: createHeaderChain("foreign"), fork: forkOf(chain) };
}

/** `late`: who may be behind or silent. `liars`: who may also tell other chains, numbers and blocks. */
const actionOf = (late: fc.Arbitrary<string>, liars: fc.Arbitrary<string>) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("mine"), blocks: fc.constantFrom(1, 1, 1, 1, 3, 140) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("probe"), label: late, behind: fc.nat(5) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("head"), label: late, behind: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("fail"), label: late }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("foreign"), label: liars, height: fc.nat(2000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("fork"), label: liars, height: fc.nat(2000) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("forkHead"), label: liars, height: fc.nat(2000) }),
    },
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

const seed = 20_261_121;

function holds(chains: Chains, actions: fc.Arbitrary<Action>, honest: readonly string[], numRuns: number) {
  const property = fc.property(fc.array(actions, { minLength: 5, maxLength: 80 }), (drawn) => {
    const { chain } = chains;
    const bench = createHeadStateBench({ count: 5, genesisHash: chain.genesisHash });
    const tell = (height: number) => {
      for (const label of honest) bench.say(label, chain, height);
    };
    let height = 20;
    for (const label of bench.labels) bench.say(label, chain, height);
    for (const one of drawn) {
      height = act(bench, one, height, chains);
      // These are never at fault: they say the truth twice a second.
      tell(height);
    }
    for (let round = 0; round < 4; round += 1) {
      bench.pass(500);
      tell(height);
    }
    return verdictOn(bench, height, chain, honest);
  });
  return fc.check(property, { seed, numRuns });
}

test("on a chain with seals, whatever four of five say, the fifth keeps the head true, in order and going on", async (t) => {
  const four = fc.constantFrom("a", "b", "c", "d");
  const result = holds(sealed, actionOf(four, four), ["e"], 100);
  t.notOk(result.failed, JSON.stringify({ counterexample: result.counterexample, seed: result.seed }));
});

test("on one without, two of five do so against a liar and two that are late", async (t) => {
  const actions = actionOf(fc.constantFrom("a", "b", "c"), fc.constant("a"));
  const result = holds(counted, actions, ["d", "e"], 400);
  t.notOk(result.failed, JSON.stringify({ counterexample: result.counterexample, seed: result.seed }));
});

function act(
  bench: ReturnType<typeof createHeadStateBench>,
  one: Action,
  height: number,
  { chain, foreign, fork }: Chains,
): number {
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

function verdictOn(
  bench: ReturnType<typeof createHeadStateBench>,
  height: number,
  chain: HeaderChain,
  honest: readonly string[],
): boolean {
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
  return last?.number === BigInt(height) && honest.every((label) => bench.state.isEligible(label));
}
