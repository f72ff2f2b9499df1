import { pino } from "pino";
import t, { type Test } from "tap";
import { createSupervisor } from "../../../lib/workers/supervisor.ts";
import type { WorkerEnd, WorkerProcess, WorkerStart } from "../../../lib/workers/worker-process.ts";
import { waitFor } from "../../helpers/wait-for.ts";

type Fake = WorkerProcess & { serve(): void; refuse(problem: string): void; die(): void };

/** Processes that do what the test says, in the places "one" and "two". */
function setUp(t: Test) {
  const spawned: Fake[] = [];
  const lines: Record<string, unknown>[] = [];
  let nowMs = 1_000_000;
  const supervisor = createSupervisor({
    slots: [
      { name: "one", role: "worker" },
      { name: "two", role: "worker" },
    ],
    spawn({ name, role }) {
      const started = Promise.withResolvers<WorkerStart>();
      const ended = Promise.withResolvers<WorkerEnd>();
      let state: ReturnType<WorkerProcess["state"]> = "starting";
      const end = (asked: boolean) => {
        state = "ended";
        started.resolve({ problems: ["it ended"] });
        ended.resolve({ code: 1, signal: null, asked });
      };
      const fake: Fake = {
        name,
        role,
        pid: spawned.length,
        startedAtMs: nowMs,
        state: () => state,
        started: started.promise,
        ended: ended.promise,
        lastMetrics: () => undefined,
        ask: async () => undefined,
        send() {},
        async stop() {
          end(true);
          return ended.promise;
        },
        kill: () => end(false),
        serve() {
          state = "serving";
          started.resolve({ settings: undefined });
        },
        refuse(problem) {
          started.resolve({ problems: [problem] });
          end(false);
        },
        die: () => end(false),
      };
      spawned.push(fake);
      return fake;
    },
    stopWithinMs: () => 1000,
    onServing() {},
    onEnded() {},
    logger: pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    now: () => nowMs,
    retry: { first: 0, min: 2, max: 8 },
  });
  t.teardown(() => supervisor.stop());
  const nth = (count: number) => waitFor(`process ${count} begins`, () => spawned[count - 1]);
  return {
    supervisor,
    spawned,
    nth,
    waits: () => lines.flatMap((line) => line["againInMs"] ?? []),
    pass: (ms: number) => {
      nowMs += ms;
    },
    async begin() {
      const started = supervisor.start();
      for (const fake of spawned) fake.serve();
      t.same(await started, []);
    },
  };
}

t.test(
  "a process that ends again and again is replaced ever less often, and at once after a sound minute",
  async (t) => {
    const { begin, nth, waits, pass } = setUp(t);
    await begin();
    for (let process = 1; process <= 7; process = process === 1 ? 3 : process + 1) {
      const fake = await nth(process);
      if (process > 2) fake.serve();
      fake.die();
    }
    await nth(8);
    t.same(waits(), [0, 2, 4, 8, 8, 8]);
    const sound = await nth(8);
    sound.serve();
    pass(60_000);
    sound.die();
    await nth(9);
    t.equal(waits().at(-1), 0);
  },
);

t.test("where one cannot start the first time it is not tried again, and says why", async (t) => {
  const { supervisor, spawned } = setUp(t);
  const started = supervisor.start();
  spawned[0]?.serve();
  spawned[1]?.refuse("the port is taken");
  t.same(await started, ["the port is taken"]);
  t.equal(spawned.length, 2);
});

t.test("all are replaced one after the other, each once the new one serves", async (t) => {
  const { supervisor, begin, nth, spawned } = setUp(t);
  await begin();
  const done: number[] = [];
  const replaced = supervisor.replaceAll((count) => done.push(count));
  const third = await nth(3);
  t.equal(spawned.length, 3, "one at a time");
  t.equal(spawned[0]?.state(), "serving", "the old one goes on meanwhile");
  third.serve();
  const fourth = await nth(4);
  t.equal(spawned[0]?.state(), "ended");
  fourth.serve();
  t.same(await replaced, []);
  t.same(done, [1, 2]);
  t.same(
    supervisor.places().map(({ pid, deaths }) => ({ pid, deaths })),
    [
      { pid: 2, deaths: 0 },
      { pid: 3, deaths: 0 },
    ],
  );
});

t.test("a replacement that cannot start ends it: the others go on, and none is lost", async (t) => {
  const { supervisor, begin, nth, spawned } = setUp(t);
  await begin();
  const replaced = supervisor.replaceAll(() => {});
  (await nth(3)).refuse("a file cannot be used");
  t.same(await replaced, ["a file cannot be used"]);
  t.same(
    supervisor.serving().map(({ pid }) => pid),
    [0, 1],
  );
  t.equal(spawned.length, 3);
});

t.test("one that dies while its replacement starts is replaced by that, and by no third", async (t) => {
  const { supervisor, begin, nth, spawned } = setUp(t);
  await begin();
  const replaced = supervisor.replaceAll(() => {});
  const third = await nth(3);
  spawned[0]?.die();
  await waitFor("its end is known", () => supervisor.places()[0]?.deaths === 1 || undefined);
  third.serve();
  (await nth(4)).serve();
  await replaced;
  t.equal(spawned.length, 4);
  t.equal(supervisor.serving().length, 2);
});
