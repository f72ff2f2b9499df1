import t from "tap";
import { createTurns } from "../../../../gateway/upstream/pool/turns.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Each piece of work takes one unit of a time that only it moves. */
function createRig({ sliceMs = 2, waitingPerGroupMax = 100 } = {}) {
  let nowMs = 0;
  const done: string[] = [];
  const turns = createTurns({ sliceMs, waitingPerGroupMax, now: () => nowMs });
  const take = (group: string, name: string) =>
    turns.take(group, () => {
      nowMs += 1;
      done.push(name);
    });
  return { take, done };
}

t.test("in a quiet process work is done at once", async (t) => {
  const { take, done } = createRig();
  t.equal(take("a", "a1"), true);
  t.strictSame(done, ["a1"]);
  await nextTurn();
  take("a", "a2");
  t.strictSame(done, ["a1", "a2"]);
});

t.test(
  "a turn of the event loop has its slice of work, in order, and the rest comes in later ones",
  async (t) => {
    const { take, done } = createRig({ sliceMs: 2 });
    for (let index = 1; index <= 7; index += 1) take("a", String(index));
    for (const expected of ["12", "1234", "123456", "1234567"]) {
      t.equal(done.join(""), expected);
      await nextTurn();
    }
    t.equal(done.length, 7);
  },
);

t.test("groups take turns: one that comes later waits for one piece of another's queue", async (t) => {
  const { take, done } = createRig({ sliceMs: 2 });
  for (let index = 1; index <= 6; index += 1) take("a", `a${index}`);
  take("b", "b1");
  take("b", "b2");
  while (done.length < 8) await nextTurn();
  t.strictSame(done, ["a1", "a2", "a3", "b1", "a4", "b2", "a5", "a6"]);
});

t.test("of one group so much waits and no more; another's is taken", async (t) => {
  const { take, done } = createRig({ sliceMs: 1, waitingPerGroupMax: 2 });
  t.strictSame(
    ["a1", "a2", "a3", "a4"].map((name) => take("a", name)),
    [true, true, true, false],
  );
  t.equal(take("b", "b1"), true);
  while (done.length < 4) await nextTurn();
  t.strictSame(done.toSorted(), ["a1", "a2", "a3", "b1"]);
  t.equal(take("a", "a5"), true);
});
