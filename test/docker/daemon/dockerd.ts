import { execFile } from "node:child_process";
import { join } from "node:path";
import { env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { runDocker } from "../../../scripts/network/docker/run-docker.ts";
import { findProgram } from "../../../scripts/processes/find-program.ts";
import { runChild } from "../../../scripts/processes/run-child.ts";
import { startParentWatch } from "../../../scripts/processes/watch-parent.ts";

/** A daemon that runs. `host` is what DOCKER_HOST is to be. */
export type Dockerd = { host: string; ended: Promise<unknown>; stop: () => Promise<void> };

/** Why there is no daemon. `byMachine`: this machine lets none run, which is no fault of the tests. */
export type NoDockerd = { failed: string; byMachine: boolean };

const path = `${env["PATH"]}:/usr/sbin:/sbin`;
const readyWithinMs = 60_000;
const stopWithinMs = 60_000;
const pollMs = 50;

/** Starts dockerd on a data root that no other one has; its sockets are in `folder`. */
export async function startDockerd({
  folder,
  dataRoot,
}: {
  folder: string;
  dataRoot: string;
}): Promise<Dockerd | NoDockerd> {
  const program = await findProgram({ names: ["dockerd"], path });
  if (program === undefined) return { failed: "there is no program dockerd", byMachine: false };
  const host = `unix://${join(folder, "sock")}`;
  const lines: string[] = [];
  const watch = await startParentWatch();
  const child = await runChild({
    name: "dockerd",
    program,
    args: [
      ...["--data-root", dataRoot, "--exec-root", join(folder, "exec")],
      ...["--pidfile", join(folder, "pid"), "--host", host],
      // Networks are made by compose; without this one no docker0 is left behind.
      "--bridge=none",
    ],
    env: { ...env, PATH: path },
    onLine: (line) => lines.push(line),
  });
  if ("failed" in child) return { ...child, byMachine: false };
  watch.remember(child.pid);
  async function stop(): Promise<void> {
    if (!("pid" in child)) return;
    await child.stop({ withinMs: stopWithinMs });
    watch.forget(child.pid);
    await watch.stop();
  }
  const giveUpAt = performance.now() + readyWithinMs;
  while (!(await answers(host))) {
    const isOver = !child.running();
    if (isOver || performance.now() > giveUpAt) {
      await stop();
      const why = `dockerd ${isOver ? "has ended" : "does not answer"}:\n${lines.slice(-12).join("\n")}`;
      return { failed: why, byMachine: isOver && (await machineRefuses(lines)) };
    }
    await sleep(pollMs);
  }
  return { host, ended: child.ended, stop };
}

export async function answers(host: string): Promise<boolean> {
  return (await runDocker({ args: ["info"], env: { ...env, DOCKER_HOST: host } })).ok;
}

/**
 * Whether a daemon that ended at once may blame the machine: the kernel refused it something, or refuses it now. A sandbox
 * may have no namespaces, no mounts, no packet filter, no control groups. All else is a fault that has to be seen.
 */
export async function machineRefuses(
  lines: readonly string[],
  { probe = probeMachine }: { probe?: () => Promise<unknown> } = {},
): Promise<boolean> {
  if (lines.some((line) => /operation not permitted|permission denied|cgroup.* mounted/i.test(line)))
    return true;
  return probe().then(
    () => false,
    () => true,
  );
}

/** Rejects where one of the things that a daemon does at its start is refused. */
async function probeMachine(): Promise<void> {
  const steps = ["mount -t tmpfs tmpfs /mnt", "iptables -t nat -S", "iptables -t filter -S"];
  const args = ["--fork", "--pid", "--mount", "--net", "sh", "-ec", steps.join("\n")];
  await promisify(execFile)("unshare", args, { env: { PATH: path } });
}
