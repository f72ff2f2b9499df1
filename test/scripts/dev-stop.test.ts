import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { checkPorts } from "../../scripts/processes/check-ports.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";
import { type DevUnderTest, startDev, startedDev, stillRunning } from "./dev-rig.ts";

t.jobs = 4;

t.test("each way of asking it to stop ends everything in order", async (t) => {
  for (const signals of [["SIGINT"], ["SIGTERM"], ["SIGHUP"], ["SIGINT", "SIGINT"]] as const) {
    const dev = await startedDev(t, { folder: testFolder(t, { [signals.join()]: {} }) });
    const children = await dev.children();
    const beganAt = Date.now();
    // Two at once are what npm makes of one Ctrl-C: the terminal's, and the one that it passes on.
    for (const signal of signals) dev.signal(signal);
    t.same(await dev.ended, { code: 0, signal: null }, signals.join());
    t.ok(Date.now() - beganAt < 10_000, "within 10 s");
    t.same(await stillRunning(children), []);
    t.match(dev.printed(), /INFO: stopped[\s\S]*Everything has stopped/, "the gateway could end in order");
    t.same(await taken(dev), [], "its ports are free");
  }
});

t.test("it can be stopped while it starts", async (t) => {
  const dev = await startDev(t, { folder: testFolder(t) });
  const children = await waitFor(
    "the chain starts",
    async () => {
      const started = await dev.children().catch(() => ({}));
      return "chain" in started && started;
    },
    { withinMs: 60_000, everyMs: 1 },
  );
  dev.signal("SIGINT");
  t.same(await dev.ended, { code: 0, signal: null });
  t.same(await stillRunning(children), []);
  t.same(await taken(dev), []);
});

t.test("a second Ctrl-C does not wait for a child that does not end", async (t) => {
  const dev = await startedDev(t, { folder: testFolder(t) });
  const children = await dev.children();
  process.kill(children["gateway"] ?? 0, "SIGSTOP");
  dev.signal("SIGINT");
  await dev.prints("Stopping");
  // Sooner it would be the same Ctrl-C, which npm passes on.
  await sleep(1000);
  const beganAt = Date.now();
  dev.signal("SIGINT");
  t.same(await dev.ended, { code: 130, signal: null });
  t.ok(Date.now() - beganAt < 4000, "the gateway would have some 4 s more");
  t.same(await stillRunning(children), []);
});

t.test("a child that does not end when asked is killed, and the rest still ends in order", async (t) => {
  const dev = await startedDev(t, { folder: testFolder(t) });
  const children = await dev.children();
  process.kill(children["gateway"] ?? 0, "SIGSTOP");
  dev.signal("SIGINT");
  t.same(await dev.ended, { code: 0, signal: null });
  t.same(await stillRunning(children), []);
});

for (const name of ["redis", "redis-faucet", "postgres", "chain", "gateway", "faucet"]) {
  t.test(`${name} that ends by itself is named, and everything else is stopped`, async (t) => {
    const postgres = name === "postgres" ? "own" : "given";
    const dev = await startedDev(t, { folder: testFolder(t), postgres });
    const children = await dev.children();
    process.kill(children[name] ?? 0, "SIGKILL");
    t.same(await dev.ended, { code: 1, signal: null });
    t.match(dev.printed(), new RegExp(`npm start: ${name} ended \\(killed by SIGKILL\\)`));
    t.same(await stillRunning(children), []);
  });
}

t.test("a service that cannot start ends everything, with its last lines", async (t) => {
  // Redis refuses a folder whose append-only file is a folder of another kind.
  const folder = testFolder(t, { ".data": { redis: { appendonlydir: "not a folder" } } });
  const dev = await startDev(t, { folder });
  t.same(await dev.ended, { code: 1, signal: null });
  t.match(dev.printed(), /did not start: redis ended \(exit code 1\)\nIts last lines:\n[\s\S]*appendonlydir/);
  t.same(await taken(dev), []);
});

/** Those of its ports that somebody still listens on. */
function taken({ ports }: DevUnderTest): Promise<readonly string[]> {
  return checkPorts(
    Object.entries(ports).map(([owner, port]) => ({ host: "127.0.0.1", port, owner, changeWith: "" })),
  );
}
