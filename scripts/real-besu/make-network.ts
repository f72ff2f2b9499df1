import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readNetworkConfig } from "../../genesis/config.ts";
import { readManifest } from "../../genesis/manifest.ts";
import { nativeFolder } from "../../genesis/write-network.ts";
import { nativePorts } from "../network/native/besu-command.ts";
import { runNetwork } from "../network/run-network.ts";
import { runScript } from "./run-script.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A new network in a temporary folder, and what runs commands on it. Nothing runs yet. */
export async function makeNetwork({
  native,
  configFile,
  env,
  upgradeTo,
}: {
  /** Processes of this machine, else containers. */
  native: boolean;
  /** The network's configuration. */
  configFile: string;
  env: Environment;
  /** Another unpacked Besu. */
  upgradeTo: string | undefined;
}) {
  const { portBase } = readNetworkConfig({ file: configFile, env }).native;
  const parent = await mkdtemp(join(tmpdir(), "tollgate-real-besu-"));
  const folder = join(parent, "network");
  const where = ["--folder", folder, "--config", resolve(configFile)];
  const remove = () => rm(parent, { recursive: true, force: true });

  /** `npm run network -- …` for this network. */
  const command = (...args: string[]) => commandWith(env, args);

  async function commandWith(
    env: Environment,
    args: readonly string[],
  ): Promise<{ code: number; text: string }> {
    const lines: string[] = [];
    const code = await runNetwork({
      args: [...args, ...(native ? ["--native"] : []), ...where],
      env,
      now: Date.now,
      // What is begun is ended in order.
      signal: new AbortController().signal,
      progress: { show: () => {}, end: () => {} },
      print: (text) => lines.push(text),
      note: (text) => lines.push(text),
    });
    return { code, text: lines.join("\n") };
  }

  /** `npm run network -- compose …` for it. */
  const compose = (...args: string[]) =>
    runScript({ script: "scripts/network/main.ts", args: ["compose", ...where, ...args], env });

  const init = ["init", "--out", folder, "--config", resolve(configFile)];
  const made = await runScript({ script: "genesis/main.ts", args: init, env });
  const read = made.code === 0 ? readManifest(folder) : { problem: made.text };
  if ("problem" in read) {
    await remove();
    throw new Error(read.problem);
  }
  const { manifest } = read;
  return {
    manifest,
    nodes: manifest.validators.map(({ name, host, httpPort }, index) => ({
      name,
      url: native ? `http://127.0.0.1:${nativePorts(portBase, index).http}` : `http://${host}:${httpPort}`,
    })),
    command,
    /** The same with the other Besu; undefined where there is none. */
    upgraded:
      upgradeTo === undefined || !native
        ? undefined
        : (...args: string[]) => commandWith({ ...env, BESU_HOME: upgradeTo }, args),
    /** Where a validator keeps its chain; undefined in containers. */
    dataFolder: (name: string) => (native ? join(folder, nativeFolder, name, "data") : undefined),
    /** SIGKILL, which nobody notices beforehand. */
    async kill(name: string): Promise<void> {
      if (!native) {
        await compose("kill", name);
        return;
      }
      const record = await readFile(join(folder, "native", name, "process.json"), "utf8");
      const { pid } = z.object({ pid: z.int() }).parse(JSON.parse(record));
      process.kill(-pid, "SIGKILL");
    },
    /** Ends all of it, and removes it. */
    async remove(): Promise<void> {
      await (native ? command("down") : compose("--profile", "*", "down", "--volumes"));
      await remove();
    },
  };
}
