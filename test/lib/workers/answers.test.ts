import { Registry } from "prom-client";
import t, { type Test } from "tap";
import { startOpsServer } from "../../../lib/ops-server.ts";
import { createAnswers } from "../../../lib/workers/answers.ts";
import { runCommand } from "../../helpers/run-command.ts";

/** The ops server of a primary that has replaced three of three, with what `package.json` says by now. */
async function startPrimary(t: Test, { remains, why }: { remains?: string; why?: string }): Promise<string> {
  const registry = new Registry();
  const answers = createAnswers({
    name: "gateway",
    supervisor: { serving: () => [], all: () => [], places: () => [] },
    metricSum: { text: async () => "" },
    registry,
    shared: [],
    state: () => "serving",
    restart: () => ({ state: "done", replaced: 3, of: 3, problems: [] }),
    whatRemains: () => remains,
  });
  const ops = await startOpsServer({
    ...{ host: "127.0.0.1", port: 0, hosts: [], registry },
    readiness: answers.readiness,
    status: answers.status,
    restart: () => answers.ofRestart(why),
  });
  t.teardown(ops.stop);
  return `http://127.0.0.1:${ops.port}`;
}

async function restart(t: Test, ops: string): Promise<{ code: number | null; text: string }> {
  const args = ["gateway/main.ts", "restart", "--ops", ops];
  const { code, lines } = await runCommand(t, { program: process.execPath, args });
  return { code, text: lines.join("\n") };
}

t.test("a restart that leaves an old primary says so, to programs and to people", async (t) => {
  const remains = "the primary goes on as 0.1.0, and 0.2.0 is on disk: it needs a stop and a start";
  const ops = await startPrimary(t, { remains });
  const answer = await fetch(`${ops}/restart`, { method: "POST" });
  t.equal(answer.status, 202);
  t.strictSame(await answer.json(), { outcome: "begun", remains });
  const { code, text } = await restart(t, ops);
  t.equal(code, 0, "the workers are replaced all the same");
  t.match(text, `${remains}\n3 of 3 processes are replaced`);
});

t.test("a restart of the same version has nothing to add", async (t) => {
  const ops = await startPrimary(t, {});
  t.strictSame(await (await fetch(`${ops}/restart`, { method: "POST" })).json(), { outcome: "begun" });
  t.notMatch((await restart(t, ops)).text, "primary");
});

t.test("a restart that is refused tells why alone", async (t) => {
  const ops = await startPrimary(t, { remains: "an older one", why: "a reload is under way" });
  const { code, text } = await restart(t, ops);
  t.equal(code, 2);
  t.match(text, /goes on as it is:\n {2}a reload is under way/);
  t.notMatch(text, "an older one");
});
