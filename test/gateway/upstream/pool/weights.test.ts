import { Wallet } from "ethers";
import t from "tap";
import { createReceiveBudget } from "../../../../gateway/answer-budget/receive-budget.ts";
import { createChoose, type PoolHead } from "../../../../gateway/upstream/pool/choose.ts";
import { createHealth } from "../../../../gateway/upstream/pool/health.ts";
import { poolSettingsSchema } from "../../../../gateway/upstream/pool/pool-settings.ts";
import { createValidator, type Validator } from "../../../../gateway/upstream/pool/validator.ts";
import { startStubValidator } from "../../../fakes/stub-validator.ts";
import { signed } from "../../../fakes/validators/rpc.ts";
import { anyHead, echo, startPool } from "./start-pool.ts";

const seed = Number(process.env["PROPERTY_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const settings = poolSettingsSchema.parse({});

function nodes(weights: readonly number[]): Validator[] {
  const receiving = createReceiveBudget(settings);
  return weights.map((weight, index) =>
    createValidator({
      upstream: { name: String(index), url: `http://127.0.0.1:${index + 1}`, weight },
      ...{ index, settings, room: receiving.forValidator() },
      health: createHealth({
        ...{ settings: settings.health, mayEject: () => true, onEjected() {}, onReadmitted() {} },
      }),
    }),
  );
}

/** Mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** How many of 10 000 calls each gets while all are idle. */
function shares(weights: readonly number[], seed: number, head: PoolHead = anyHead): number[] {
  const choose = createChoose({ validators: nodes(weights), head, random: randomFrom(seed) });
  const counts = weights.map(() => 0);
  for (let call = 0; call < 10_000; call += 1) {
    const chosen = choose(0, 0);
    if (typeof chosen !== "string") counts[chosen.index] = (counts[chosen.index] ?? 0) + 1;
  }
  return counts;
}

t.test("idle nodes: two are drawn by weight, the heavier gets the call, and none is left out", async (t) => {
  t.comment(`PROPERTY_SEED=${seed}`);
  const check = (weights: readonly number[], expected: readonly number[]) => {
    for (const [index, count] of shares(weights, seed).entries()) {
      const share = expected[index] ?? 0;
      // Six standard deviations of a binomial draw: by chance one run in 10⁸ fails.
      const room = 6 * Math.sqrt(10_000 * share * (1 - share));
      const what = `weights ${weights.join()}: ${count} of 10 000 calls for node ${index}`;
      t.ok(Math.abs(count - 10_000 * share) <= room, what);
    }
  };
  check([1, 1, 1, 1, 1], [0.2, 0.2, 0.2, 0.2, 0.2]);
  // The light ones get what is drawn without the heavy one: 2 × 1/6 × 1/5.
  check([1, 1, 4], [1 / 30, 1 / 30, 14 / 15]);
});

t.test("busy nodes: each has as many calls in flight as its weight says", async (t) => {
  const [light, heavy] = nodes([1, 2]);
  if (light === undefined || heavy === undefined) throw new Error("two nodes");
  const choose = createChoose({ validators: [light, heavy], head: anyHead, random: randomFrom(seed) });
  const taken = [0, 0];
  for (let call = 0; call < 6; call += 1) {
    const chosen = choose(0, 0);
    if (typeof chosen === "string") throw new Error(chosen);
    // A connection that is open and not free is a request in flight.
    chosen.lanes[0]?.connections.push(Object.create(null));
    taken[chosen.index] = (taken[chosen.index] ?? 0) + 1;
  }
  t.same(taken, [2, 4]);
});

t.test("one of weight 0 is asked when no other one is in order, and only then", async (t) => {
  t.comment(`PROPERTY_SEED=${seed}`);
  t.same(shares([0, 1], seed), [0, 10_000]);
  t.same(
    shares([0, 0], seed).reduce((sum, count) => sum + count, 0),
    10_000,
    "all are alike again",
  );
  const behind: PoolHead = { ...anyHead, isEligible: (label) => label !== "1" };
  t.same(shares([0, 1], seed, behind), [10_000, 0], "the other one is behind the head");
});

t.test(
  "transactions go to validators, whatever a replica weighs, and to it where none is left",
  async (t) => {
    const [validator, replica] = await Promise.all([
      startStubValidator(t, { answer: echo }),
      startStubValidator(t, { answer: echo }),
    ]);
    const { ask, pool } = startPool(t, [validator.url, replica.url], {
      more: [{}, { weight: 100, role: "replica" }],
    });
    for (let count = 0; count < 8; count += 1) {
      const sender = new Wallet(Wallet.createRandom().privateKey);
      const raw = await signed(sender, 0);
      t.match(await ask("eth_sendRawTransaction", [raw]), /result/);
      t.match(await ask("eth_getTransactionCount", [sender.address, "pending"]), /result/);
    }
    const sends = (stub: typeof replica) => stub.bodies.filter((body) => body.includes("eth_sendRaw")).length;
    t.equal(sends(validator), 8);
    t.equal(sends(replica), 0);
    for (let call = 0; call < 40; call += 1) await ask("web3_sha3", ["x"]);
    const [asValidator, asReplica] = pool.status().validators;
    t.match(asReplica, { role: "replica", weight: 100 });
    t.ok((asReplica?.calls ?? 0) > (asValidator?.calls ?? 0), "reads go where the weight is");
  },
);
