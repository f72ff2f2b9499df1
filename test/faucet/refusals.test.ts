import t from "tap";
import { createRefusals } from "../../faucet/payer/refusals.ts";

const claim = { txHash: "0x01" };

function createRig() {
  const refusals = createRefusals();
  const state = { nowMs: 0, height: 100, baseFeeWei: 0n };
  const moment = () => ({
    now: () => state.nowMs,
    snapshot: state,
    wallet: { maxFeePerGasWei: 10n },
  });
  return {
    refusals,
    state,
    refuse: (why = "not authorized") => refusals.note(moment(), claim, why),
    forMs: () => refusals.refusedForMs(moment(), claim),
  };
}

t.test("a refusal lasts from its first word, once the chain has made blocks that it outlasted", async (t) => {
  const { state, refuse, forMs } = createRig();
  t.equal(forMs(), 0);
  refuse();
  state.nowMs = 60_000;
  refuse();
  t.equal(forMs(), 0, "a chain that stands still proves nothing");
  state.height += 1;
  t.equal(forMs(), 0, "nor does a block since the last word");
  refuse();
  t.equal(forMs(), 0);
  state.height += 1;
  refuse();
  t.equal(forMs(), 60_000);
});

t.test("an answer that says nothing about the transaction begins it anew", async (t) => {
  const { refusals, state, refuse, forMs } = createRig();
  refuse();
  state.height += 5;
  state.nowMs = 60_000;
  refusals.forget(claim);
  refuse();
  t.equal(forMs(), 0);
  t.equal(refusals.first(), "not authorized");
  refusals.keep(new Set());
  t.equal(refusals.first(), undefined);
});

t.test("time at a base fee above the price does not count", async (t) => {
  const { state, refuse, forMs } = createRig();
  state.baseFeeWei = 11n;
  for (const height of [100, 110, 120]) {
    state.height = height;
    state.nowMs += 60_000;
    refuse("underpriced");
  }
  state.baseFeeWei = 10n;
  refuse("underpriced");
  t.equal(forMs(), 0);
  state.height += 2;
  state.nowMs += 30_000;
  refuse("underpriced");
  t.equal(forMs(), 30_000);
});

t.test("a reason is news once", async (t) => {
  const { refuse } = createRig();
  t.same(
    [refuse(), refuse(), refuse("another")].map(({ isNews }) => isNews),
    [true, false, true],
  );
});
