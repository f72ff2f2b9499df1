import { existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { runCommand } from "../../helpers/run-command.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { findPrepared } from "../start-docker.ts";
import { answers, machineRefuses } from "./dockerd.ts";
import { useDaemon } from "./use-daemon.ts";

t.test("tests that need a daemon at the same time share one, which ends with the last", async (t) => {
  const prepared = await findPrepared();
  if ("missing" in prepared || process.getuid?.() !== 0) {
    t.plan(0, "missing" in prepared ? prepared.missing : "only root can start a docker daemon");
    return;
  }
  const dataRoot = join(testFolder(t, {}), "docker");
  const [first, second] = await Promise.all([useDaemon(dataRoot), useDaemon(dataRoot)]);
  for (const daemon of [first, second]) {
    if (!("failed" in daemon)) continue;
    t.ok(daemon.byMachine, daemon.failed);
    return;
  }
  if ("failed" in first || "failed" in second) return;
  t.equal(first.host, second.host);
  const socket = first.host.slice("unix://".length);
  await first.release();
  t.ok(await answers(second.host), "somebody still needs it");
  // As a test that is killed: nobody says goodbye.
  const script = `import { useDaemon } from "./test/docker/daemon/use-daemon.ts";
    const daemon = await useDaemon(${JSON.stringify(dataRoot)});
    process.stdout.write(JSON.stringify(daemon) + "\\n", () => process.kill(process.pid, "SIGKILL"));`;
  const killed = await runCommand(t, {
    program: process.execPath,
    args: ["--input-type=module-typescript", "--eval", script],
  });
  t.match(killed.lines.join("\n"), first.host);
  t.ok(await answers(second.host));
  await second.release();
  t.notOk(existsSync(socket), "it has ended");
  const again = await useDaemon(dataRoot);
  t.match(again, { host: /^unix:/ });
  if (!("failed" in again)) await again.release();
});

t.test(
  "a daemon that ends at once blames the machine only where the machine refuses something",
  async (t) => {
    const can = { probe: async () => {} };
    const cannot = { probe: () => Promise.reject(new Error("unshare: Operation not permitted")) };
    const taken = ["timeout waiting for containerd", "waiting for response from boltdb open"];
    t.equal(await machineRefuses(taken, can), false);
    t.equal(await machineRefuses(taken, cannot), true);
    t.equal(await machineRefuses(["failed to mount overlay: operation not permitted"], can), true);
    t.equal(await machineRefuses(["Error: Devices cgroup isn't mounted"], can), true);
  },
);
