import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import { findProgram } from "./find-program.ts";
import { type Child, runChild } from "./run-child.ts";

const serverNames = ["redis-server", "valkey-server"];
const installName = "apt-get";

/**
 * Finds a Redis or Valkey server in PATH. Where there is none, it installs Debian's or Ubuntu's package if that needs
 * no password, and passes the output to `onLine`.
 * @returns the program, or the command that a person has to type.
 */
export async function findRedis({
  env,
  isRoot = userInfo().uid === 0,
  onLine,
  onChild,
}: {
  env: Readonly<Record<string, string | undefined>>;
  isRoot?: boolean;
  onLine: (name: string, line: string) => void;
  /** Called when the installation begins. */
  onChild?: (child: Child) => void;
}): Promise<{ program: string } | { missing: string }> {
  const path = env["PATH"];
  const program = await findProgram({ names: serverNames, path });
  if (program !== undefined) return { program };

  if ((await findProgram({ names: ["apt-get"], path })) === undefined) return { missing: withoutApt };
  const installer = await installCommand({ env, isRoot });
  if (installer === undefined) return { missing: withPassword };
  onLine(installName, "There is no redis-server or valkey-server: installing the package redis-server.");
  const child = await runChild({
    name: installName,
    ...installer,
    env,
    onLine: (line) => onLine(installName, line),
  });
  if ("failed" in child) return { missing: `${child.failed}\n${withPassword}` };
  onChild?.(child);
  const { code } = await child.ended;
  const installed = await findProgram({ names: serverNames, path: `${path}:/usr/bin` });
  if (installed !== undefined && code === 0) return { program: installed };
  return { missing: `The package could not be installed (exit code ${code}).\n${withPassword}` };
}

/** How to install without a password prompt; undefined where that is not possible. */
async function installCommand({
  env,
  isRoot,
}: {
  env: Readonly<Record<string, string | undefined>>;
  isRoot: boolean;
}): Promise<{ program: string; args: string[] } | undefined> {
  const script = fileURLToPath(new URL("install-redis.sh", import.meta.url));
  if (isRoot) return { program: "/bin/sh", args: [script] };
  const sudo = await findProgram({ names: ["sudo"], path: env["PATH"] });
  if (sudo === undefined) return undefined;
  const trial = await runChild({ name: "sudo", program: sudo, args: ["-n", "true"], env, onLine: () => {} });
  if ("failed" in trial || (await trial.ended).code !== 0) return undefined;
  return { program: sudo, args: ["-n", "/bin/sh", script] };
}

const elsewhere = "or name a Redis that runs already: REDIS_URL=redis://127.0.0.1:6379 npm start";

const withPassword = `There is no redis-server or valkey-server on PATH. Type

  sudo sh scripts/processes/install-redis.sh

(which is apt-get install redis-server, without starting the package's own service) and npm start again;
${elsewhere}`;

const withoutApt = `There is no redis-server or valkey-server on PATH. Install one,

  Debian, Ubuntu   sudo sh scripts/processes/install-redis.sh
  macOS            brew install redis
  Fedora           sudo dnf install valkey
  Alpine           sudo apk add valkey
  Arch             sudo pacman -S valkey

and npm start again;
${elsewhere}`;
