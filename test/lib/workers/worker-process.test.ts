import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { startWorkerProcess } from "../../../lib/workers/worker-process.ts";

function start(
  t: Test,
  { settings, silentMsMax = 60_000 }: { settings?: unknown; silentMsMax?: number } = {},
) {
  const worker = startWorkerProcess({
    command: {
      program: fileURLToPath(new URL("worker-program.ts", import.meta.url)),
      args: [],
      execArgv: ["--disable-warning=ExperimentalWarning"],
    },
    env: { PATH: process.env["PATH"] },
    task: {
      name: "worker-1",
      role: "worker",
      workers: 1,
      listener: { host: "127.0.0.1", port: 0 },
      fixed: {},
      settings,
      isFirst: true,
      parts: {},
    },
    silentMsMax,
    onMessage() {},
  });
  t.teardown(() => worker.kill());
  return worker;
}

t.test("answers what it is asked, says why it cannot, and stops when it is told to", async (t) => {
  const worker = start(t);
  t.same(await worker.started, { kind: "up", settings: undefined });
  const value = { big: 1n, map: new Map([["a", 1]]), nothing: undefined };
  t.same(await worker.ask("echo", value), value, "values that JSON does not know too");
  await t.rejects(worker.ask("fail"), { message: "not today" });
  await t.rejects(worker.ask("unheard of"), { message: /knows no answer/ });
  t.match(await worker.stop({ withinMs: 30_000, idleMs: 0 }), { code: 0, asked: true });
  t.same(worker.lastMetrics(), ["last words"]);
  await t.rejects(worker.ask("echo"), { message: "worker-1 has ended" });
});

t.test("one whose event loop hangs is killed", async (t) => {
  const worker = start(t, { silentMsMax: 2500 });
  await worker.started;
  const hung = worker.ask("hang");
  await t.rejects(hung);
  t.match(await worker.ended, { signal: "SIGKILL", asked: false });
});

t.test("one that does not stop in time is killed", async (t) => {
  const worker = start(t, { settings: "deaf" });
  await worker.started;
  t.match(await worker.stop({ withinMs: 200, idleMs: 0 }), { signal: "SIGKILL", asked: true });
});

t.test("a program that cannot be started ends its start with words", async (t) => {
  const worker = startWorkerProcess({
    command: { program: "no-such-program.ts", args: [], execArgv: [] },
    env: { PATH: process.env["PATH"], NODE_OPTIONS: "" },
    task: {
      name: "worker-1",
      role: "worker",
      workers: 1,
      listener: { host: "127.0.0.1", port: 0 },
      fixed: {},
      settings: undefined,
      isFirst: false,
      parts: {},
    },
    silentMsMax: 60_000,
    onMessage() {},
  });
  t.same(await worker.started, { problems: ["it ended with 1"] });
});
