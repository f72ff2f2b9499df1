import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { answers } from "./daemon/dockerd.ts";
import { useDaemon } from "./daemon/use-daemon.ts";

/** What test/docker/prepare.sh makes. */
export type Prepared = { compose: string; base: string; packages: string; dockerFolder: string };

/** The environment in which `docker` finds the daemon and compose v2. */
export type DockerEnvironment = Readonly<Record<string, string | undefined>>;

const cache = process.env["TOLLGATE_CACHE"] ?? join(homedir(), ".cache", "tollgate");
const lockFile = new URL("../../package-lock.json", import.meta.url);
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
  const base = find("base-bookworm-2");
  const packages = find(`npm-2-${hashPackages(readFileSync(lockFile, "utf8"))}`);
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
 * A docker daemon: the one that answers, else the tests' own, which needs root. Its images stay in the cache's folder, so that
 * the next run makes only those that have changed. In CI a missing daemon is an error, unless the machine refuses to run one.
 */
export async function startDocker(
  t: Teardown,
): Promise<{ env: DockerEnvironment; prepared: Prepared } | { missing: string }> {
  const prepared = await findPrepared();
  if ("missing" in prepared) return refuse(prepared.missing);
  const env = await composeEnvironment(t, prepared);
  const given = env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
  const mayAnswer = !given.startsWith("unix://") || existsSync(given.slice("unix://".length));
  if (mayAnswer && (await answers(given))) return { env, prepared };
  if (process.getuid?.() !== 0) return refuse("there is no docker daemon, and only root can start one");
  const daemon = await useDaemon(prepared.dockerFolder);
  if ("failed" in daemon) {
    const missing = `there is no docker daemon: ${daemon.failed}`;
    return daemon.byMachine ? { missing } : refuse(missing);
  }
  t.teardown(daemon.release);
  return { env: { ...env, DOCKER_HOST: daemon.host }, prepared };
}

/** Only what the machine itself does not let run may be left out in CI. */
function refuse(missing: string): { missing: string } {
  if (mustRun) throw new Error(missing);
  return { missing };
}
