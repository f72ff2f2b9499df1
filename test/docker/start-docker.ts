import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runDocker } from "../../scripts/network/docker/run-docker.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { runChild } from "../../scripts/processes/run-child.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { startParentWatch } from "../../scripts/processes/watch-parent.ts";

/** What test/docker/prepare.sh makes. */
export type Prepared = { compose: string; base: string; packages: string; dockerFolder: string };

/** The environment in which `docker` finds the daemon and compose v2. */
export type DockerEnvironment = Readonly<Record<string, string | undefined>>;

const cache = process.env["TOLLGATE_CACHE"] ?? join(homedir(), ".cache", "tollgate");
const lockFile = new URL("../../package-lock.json", import.meta.url);
const readyWithinMs = 60_000;
const stopWithinMs = 60_000;
const pollMs = 100;
/** Where CI runs as root nothing may be left out. */
export const mustRun = process.env["CI"] === "true" && process.getuid?.() === 0;

const howTo =
  "sudo sh test/docker/prepare.sh makes it, on Debian with docker.io, iptables, debootstrap and go";

/** What the tests need, or why they cannot be run here. In CI everything has to be there. */
export async function findPrepared(): Promise<Prepared | { missing: string }> {
  const names = await readdir(cache).catch(() => []);
  const absent: string[] = [];
  const find = (prefix: string) => {
    const name = names.find((candidate) => candidate.startsWith(prefix));
    if (name === undefined) absent.push(prefix);
    return join(cache, name ?? prefix);
  };
  const compose = find("docker-compose-v2");
  const base = find("base-");
  const packages = find(`npm-${hashPackages(readFileSync(lockFile, "utf8"))}`);
  if (absent.length > 0) return { missing: `${cache} has no ${absent.join(", no ")}; ${howTo}` };
  return { compose, base, packages, dockerFolder: join(cache, "docker") };
}

/** prepare.sh's name for a lock file's packages: from their hashes alone, since npms differ in the rest that they write. */
function hashPackages(lock: string): string {
  const lines = (lock.match(/"integrity": "[^"]+"/g) ?? []).sort().map((line) => `${line}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 16);
}

/** Compose alone needs no daemon to read its file. */
export async function composeEnvironment(t: Teardown, { compose }: Prepared): Promise<DockerEnvironment> {
  const config = await mkdtemp(join(tmpdir(), "tollgate-docker-config-"));
  t.teardown(() => rm(config, { recursive: true, force: true }));
  await mkdir(join(config, "cli-plugins"));
  await symlink(compose, join(config, "cli-plugins", "docker-compose"));
  const { PATH, HOME, DOCKER_HOST } = process.env;
  return { PATH, HOME, DOCKER_HOST, DOCKER_CONFIG: config };
}

/**
 * A docker daemon: the one that answers, else one of the test's own, which needs root. Its images stay in the cache's folder,
 * so that the next run makes only those that have changed.
 */
export async function startDocker(
  t: Teardown,
): Promise<{ env: DockerEnvironment; prepared: Prepared } | { missing: string; byMachine?: boolean }> {
  const prepared = await findPrepared();
  if ("missing" in prepared) return prepared;
  const env = await composeEnvironment(t, prepared);
  if (await answers(env)) return { env, prepared };
  const program = await findProgram({ names: ["dockerd"], path: `${env["PATH"]}:/usr/sbin:/sbin` });
  if (program === undefined)
    return { missing: "there is no docker daemon, and no program dockerd to start one" };
  if (process.getuid?.() !== 0) return { missing: "there is no docker daemon, and only root can start one" };
  const folder = await mkdtemp(join(tmpdir(), "tollgate-docker-"));
  const watch = await startParentWatch();
  const lines: string[] = [];
  const child = await runChild({
    name: "dockerd",
    program,
    args: [
      ...["--data-root", prepared.dockerFolder, "--exec-root", join(folder, "exec")],
      ...["--pidfile", join(folder, "pid"), "--host", `unix://${join(folder, "sock")}`],
      // Networks are made by compose; without this one no docker0 is left behind.
      "--bridge=none",
    ],
    env: { ...process.env, PATH: `${env["PATH"]}:/usr/sbin:/sbin` },
    onLine: (line) => lines.push(line),
  });
  if ("failed" in child) throw new Error(child.failed);
  watch.remember(child.pid);
  t.teardown(async () => {
    await child.stop({ withinMs: stopWithinMs });
    watch.forget(child.pid);
    await watch.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const own = { ...env, DOCKER_HOST: `unix://${join(folder, "sock")}` };
  const giveUpAt = Date.now() + readyWithinMs;
  while (!(await answers(own))) {
    const said = lines.slice(-12).join("\n");
    if (!child.running()) {
      // No namespaces, no packet filter, no overlay: a sandbox may refuse what a daemon needs.
      return { missing: `this machine lets no docker daemon run:\n${said}`, byMachine: true };
    }
    if (Date.now() > giveUpAt) throw new Error(`dockerd does not answer:\n${said}`);
    await sleep(pollMs);
  }
  return { env: own, prepared };
}

async function answers(env: DockerEnvironment): Promise<boolean> {
  const socket = env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
  if (socket.startsWith("unix://") && !existsSync(socket.slice("unix://".length))) return false;
  return (await runDocker({ args: ["info"], env })).ok;
}
