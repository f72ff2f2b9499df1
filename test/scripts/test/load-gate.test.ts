import t from "tap";
import { createLoadGate } from "../../../scripts/test/load-gate.ts";

/** Which of the loads are let in at once, and which after the first of them has left. */
async function letIn(options: { processors: number; filesMax: number }, loads: readonly number[]) {
  const gate = createLoadGate(options);
  const inside: number[] = [];
  const leaves: (() => void)[] = [];
  for (const load of loads) {
    void gate.enter(load).then((leave) => {
      inside.push(load);
      leaves.push(leave);
    });
  }
  await settled();
  const atOnce = inside.splice(0);
  leaves[0]?.();
  await settled();
  return { atOnce, later: inside };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test("as many are let in as keep the processors busy", async (t) => {
  t.same(await letIn({ processors: 2, filesMax: 9 }, [0.25, 0.5, 1, 0.5, 0.25, 1]), {
    atOnce: [0.25, 0.5, 1],
    later: [0.5],
  });
});

t.test("one that does not fit holds back those behind it, or it would never have its turn", async (t) => {
  t.same(await letIn({ processors: 2, filesMax: 9 }, [1, 0.5, 1, 0.25]), {
    atOnce: [1, 0.5],
    later: [1, 0.25],
  });
});

t.test("one is let in, however much it takes", async (t) => {
  t.same(await letIn({ processors: 1, filesMax: 9 }, [4, 4]), { atOnce: [4], later: [4] });
});

t.test("those that only wait are not let in without end", async (t) => {
  t.same(await letIn({ processors: 2, filesMax: 3 }, [0, 0, 0, 0, 0]), { atOnce: [0, 0, 0], later: [0] });
});
