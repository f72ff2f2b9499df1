import t from "tap";
import { createUnknownKeys, unheardAgeMsMax } from "../../../gateway/auth/unknown-keys.ts";

function unknownKeys({ unknownKeysMax = 10 } = {}) {
  const state = { nowMs: 0, hearsChanges: true };
  const keys = createUnknownKeys({
    settings: { unknownPerSecondMax: 3, refusedPerSecondMax: 1, unknownKeysMax },
    hearsChanges: () => state.hearsChanges,
    monotonicMs: () => state.nowMs,
  });
  return { keys, state };
}

t.test(
  "a key that was looked up in vain is remembered for 5 s, and half a second while changes are not heard",
  async (t) => {
    const { keys, state } = unknownKeys();
    t.notOk(keys.isRemembered("a", 0));
    keys.note("a", 0);
    t.ok(keys.isRemembered("a", 5000));
    t.notOk(keys.isRemembered("a", 5001));
    state.hearsChanges = false;
    t.ok(keys.isRemembered("a", unheardAgeMsMax));
    t.notOk(keys.isRemembered("a", unheardAgeMsMax + 1));
  },
);

t.test(
  "a key that is made is forgotten as unknown at once, and all are when messages were lost",
  async (t) => {
    const { keys } = unknownKeys();
    keys.note("a", 0);
    keys.note("b", 0);
    keys.forget("a");
    t.same([keys.isRemembered("a", 0), keys.isRemembered("b", 0)], [false, true]);
    keys.clear();
    t.notOk(keys.isRemembered("b", 0));
  },
);

t.test("a flood of keys is remembered within a bound", async (t) => {
  const { keys } = unknownKeys({ unknownKeysMax: 2 });
  for (const hash of ["a", "b", "c"]) keys.note(hash, 0);
  t.same(
    ["a", "b", "c"].map((hash) => keys.isRemembered(hash, 0)),
    [false, true, true],
  );
});

t.test(
  "addresses that are refused have a bound of their own and take none of the others' look-ups",
  async (t) => {
    const { keys, state } = unknownKeys();
    const take = (isRefused: boolean, times: number) =>
      Array.from({ length: times }, () => keys.mayLookUp({ isRefused })).filter(Boolean).length;
    t.equal(take(true, 10), 1);
    t.equal(take(false, 10), 3);
    state.nowMs = 1000;
    t.equal(take(false, 10), 3);
  },
);
