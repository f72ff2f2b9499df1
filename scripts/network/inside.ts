import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readNetworkConfig } from "../../genesis/config.ts";
import { readManifest } from "../../genesis/manifest.ts";
import { addRedisUsers } from "../../genesis/redis-users.ts";
import { CommandError } from "../../lib/cli/command.ts";
import type { ExitCode } from "./command.ts";
import { createCompose } from "./docker/compose.ts";
import { writeComposeOverride } from "./docker/compose-override.ts";
import { dockerProblem } from "./docker/find-docker.ts";
import { handOver } from "./docker/hand-over.ts";
import { profilesOf } from "./docker/profiles.ts";
import type { RunAttached } from "./run-attached.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const scripts = {
  keys: "scripts/keys/main.ts",
  faucet: "scripts/faucet/main.ts",
  api: "scripts/api/main.ts",
} as const;
/** The service whose secrets and configuration a program needs. */
const services = { keys: "api-key", faucet: "faucet", api: "api" } as const;
const root = fileURLToPath(new URL("../..", import.meta.url));

export const insideText = [
  "Where the network's services run:",
  "  keys …       npm run keys, with the gateway's Redis, as its user for keys",
  "  faucet …     npm run faucet, with the faucet's Redis",
  "  api …        npm run api, with the api's PostgreSQL",
  "  compose …    docker compose, for this network and as the user of its containers",
  "--native, --folder FOLDER and --config FILE stand right behind the name; the rest is handed on.",
].join("\n");

/** Whether a command passes its arguments on to another program. */
export function isInside(args: readonly string[]): boolean {
  return isHandedOn(args[0]);
}

function isHandedOn(name: string | undefined): name is keyof typeof scripts | "compose" {
  return name === "keys" || name === "faucet" || name === "api" || name === "compose";
}

/**
 * `keys`, `faucet`, `api` and `compose` of `npm run network`: runs another program where its secrets and configuration
 * are. With containers that is the service's own container while it runs, else a new one of its kind. With --native it
 * is this machine.
 */
export async function runInside({
  args,
  env,
  run,
  isTerminal,
}: {
  args: readonly string[];
  env: Environment;
  run: RunAttached;
  isTerminal: boolean;
}): Promise<ExitCode> {
  const { name, native, folder: givenFolder, configFile, rest } = readArguments(args);
  if (native) {
    if (name === "compose")
      throw new CommandError("compose is for containers, not for --native.", { exitCode: 2 });
    return codeOf(await run({ program: process.execPath, args: [`${root}/${scripts[name]}`, ...rest], env }));
  }
  const [asked] = rest;
  if (name === "faucet" && (asked === "allow" || asked === "deny")) {
    throw new CommandError(
      "Containers may not write into config/: edit config/faucet-allowlist.yaml, the faucet reads it within a second.",
      { exitCode: 2 },
    );
  }
  const compose = await openCompose({ givenFolder, configFile, env });
  if (name === "compose") return codeOf(await compose.attach(rest, run));
  const service = services[name];
  const terminal = isTerminal ? [] : ["-T"];
  const isRunning = (await compose.states()).get(service) === "running";
  // A second container of a service would want the first one's address.
  const begin = isRunning
    ? ["exec", ...terminal, service, "node"]
    : ["run", "--rm", "--no-deps", ...terminal, service];
  return codeOf(await compose.attach([...begin, scripts[name], ...rest], run));
}

async function openCompose({
  givenFolder,
  configFile,
  env,
}: {
  givenFolder: string | undefined;
  configFile: string;
  env: Environment;
}) {
  const folder = givenFolder ?? readNetworkConfig({ file: configFile, env }).folder;
  const read = readManifest(folder);
  if ("problem" in read) throw new CommandError(read.problem, { exitCode: 1 });
  const problem = await dockerProblem(env, { asks: false });
  if (problem !== undefined) throw new CommandError(problem, { exitCode: 1 });
  const absolute = resolve(folder);
  await addRedisUsers(absolute);
  return createCompose({
    folder: absolute,
    override: await writeComposeOverride(absolute, read.manifest),
    owner: await handOver(absolute),
    env: { ...env, COMPOSE_PROFILES: profilesOf({ env, folder: absolute, manifest: read.manifest }) },
  });
}

function readArguments([name, ...words]: readonly string[]) {
  if (!isHandedOn(name)) throw new Error(`${name} hands nothing on`);
  let native = false;
  let folder: string | undefined;
  let configFile = "config/network.yaml";
  let at = 0;
  for (; at < words.length; at += 1) {
    const [word, next] = [words[at], words[at + 1]];
    if (word === "--native") {
      native = true;
      continue;
    }
    if (word !== "--folder" && word !== "--config") break;
    if (next === undefined) throw new CommandError(`${word} needs a value.`, { exitCode: 2 });
    if (word === "--folder") folder = next;
    else configFile = next;
    at += 1;
  }
  return { name, native, folder, configFile, rest: words.slice(at) } as const;
}

function codeOf(code: number): ExitCode {
  return code === 0 || code === 2 || code === 130 ? code : 1;
}
