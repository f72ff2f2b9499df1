import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { RunAttached } from "../inside.ts";
import { type DockerOutcome, runDocker } from "./run-docker.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type Compose = ReturnType<typeof createCompose>;

const composeFile = fileURLToPath(new URL("../../../docker/compose.yaml", import.meta.url));
const projectSchema = z.object({
  name: z.string(),
  services: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.object({ name: z.string() })),
});
const containerSchema = z.object({ Service: z.string(), State: z.string() });

/** `docker compose` on docker/compose.yaml for one network, whose containers run as `owner`. */
export function createCompose({
  folder,
  owner,
  env,
}: {
  /** The network's folder; absolute. */
  folder: string;
  owner: { uid: number; gid: number };
  env: Environment;
}) {
  const environment = {
    ...env,
    NETWORK_FOLDER: folder,
    TOLLGATE_UID: String(owner.uid),
    TOLLGATE_GID: String(owner.gid),
  };
  const prefix = [
    "compose",
    "--progress",
    "quiet",
    "--file",
    composeFile,
    "--env-file",
    join(folder, "compose.env"),
  ];
  let looking: Promise<ReadonlyMap<string, string>> | undefined;

  function run(
    args: readonly string[],
    options: { signal?: AbortSignal; onLine?: (line: string) => void } = {},
  ): Promise<DockerOutcome> {
    return runDocker({ args: [...prefix, ...args], env: environment, ...options });
  }

  async function mustRun(args: readonly string[]): Promise<readonly string[]> {
    const outcome = await run(args);
    if (!outcome.ok) throw new Error(`docker compose ${args[0]}: ${outcome.why}`);
    return outcome.out;
  }

  async function look(): Promise<ReadonlyMap<string, string>> {
    const lines = await mustRun(["ps", "--all", "--format", "json"]);
    const containers = lines.map((line) => containerSchema.parse(JSON.parse(line)));
    return new Map(containers.map(({ Service, State }) => [Service, State]));
  }

  return {
    run,
    mustRun,
    /** The same on the caller's own terminal; answers the exit code. */
    attach: (args: readonly string[], attached: RunAttached) =>
      attached({ program: "docker", args: [...prefix, ...args], env: environment }),
    /** The state of each service's container, such as `running`. Who asks while somebody is asking shares the answer. */
    states(): Promise<ReadonlyMap<string, string>> {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    /** What the file says for the profiles that are chosen (COMPOSE_PROFILES). */
    async project() {
      const text = (await mustRun(["config", "--format", "json"])).join("\n");
      const { name, services, volumes } = projectSchema.parse(JSON.parse(text));
      return { name, services: Object.keys(services), volumes };
    },
    /** `docker …` beside compose. */
    docker: (args: readonly string[]) => runDocker({ args, env: environment }),
  };
}
