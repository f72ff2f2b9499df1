import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { RunAttached } from "../run-attached.ts";
import { composeFile } from "./compose-override.ts";
import { type DockerOutcome, runDocker } from "./run-docker.ts";

const shippedConfig = fileURLToPath(new URL("../../../config", import.meta.url));
type Environment = Readonly<Record<string, string | undefined>>;

export type Compose = ReturnType<typeof createCompose>;

const projectSchema = z.object({
  name: z.string(),
  services: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.object({ name: z.string() })),
  configs: z.record(z.string(), z.object({ file: z.string().optional() })).default({}),
});
/** Compose writes these on each of its containers. */
const label = "com.docker.compose";

/** `docker compose` on docker/compose.yaml for one network, whose containers run as `owner`. */
export function createCompose({
  folder,
  override,
  owner,
  env,
}: {
  /** The network's folder; absolute. */
  folder: string;
  /** A file that goes behind docker/compose.yaml. */
  override?: string | undefined;
  owner: { uid: number; gid: number };
  env: Environment;
}) {
  const configFolder = resolve(env["CONFIG_FOLDER"] ?? shippedConfig);
  const environment = {
    ...env,
    NETWORK_FOLDER: folder,
    CONFIG_FOLDER: configFolder,
    TOLLGATE_UID: String(owner.uid),
    TOLLGATE_GID: String(owner.gid),
  };
  const prefix = [
    "compose",
    "--progress",
    "quiet",
    "--file",
    composeFile,
    ...(override === undefined ? [] : ["--file", override]),
    "--env-file",
    join(folder, "compose.env"),
  ];
  let known: ReturnType<typeof readProject> | undefined;
  let looking: Promise<ReadonlyMap<string, string>> | undefined;

  function run(
    args: readonly string[],
    options: { signal?: AbortSignal; onLine?: (line: string) => void } = {},
  ): Promise<DockerOutcome> {
    return runDocker({ args: [...prefix, ...args], env: environment, ...options });
  }

  function line(args: readonly string[]) {
    return { program: "docker", args: [...prefix, ...args], env: environment };
  }

  async function mustRun(args: readonly string[]): Promise<readonly string[]> {
    const outcome = await run(args);
    if (!outcome.ok) throw new Error(`docker compose ${args[0]}: ${outcome.why}`);
    return outcome.out;
  }

  async function readProject() {
    const text = (await mustRun(["config", "--format", "json"])).join("\n");
    const { name, services, volumes, configs } = projectSchema.parse(JSON.parse(text));
    return { name, services: Object.keys(services), volumes, configs };
  }

  /** The services of the chosen profiles (COMPOSE_PROFILES). */
  function project(): ReturnType<typeof readProject> {
    known ??= readProject();
    return known;
  }

  /** `docker ps`, since `docker compose ps` takes ten times as long, and waiting for a node asks several times a second. */
  async function look(): Promise<ReadonlyMap<string, string>> {
    const labels = [`${label}.project=${(await project()).name}`, `${label}.oneoff=False`];
    const filters = labels.flatMap((text) => ["--filter", `label=${text}`]);
    const format = `{{.Label "${label}.service"}} {{.State}}`;
    const listed = await runDocker({
      args: ["ps", "--all", ...filters, "--format", format],
      env: environment,
    });
    if (!listed.ok) throw new Error(`docker ps: ${listed.why}`);
    return new Map(listed.out.map((line) => readState(line)));
  }

  return {
    run,
    mustRun,
    /** What `run` runs, for somebody else to run. */
    line,
    /** The same on the caller's terminal. @returns the exit code. */
    attach: (args: readonly string[], attached: RunAttached) => attached(line(args)),
    /** The state of each service's container, such as `running`. Calls at the same time share one answer. */
    states(): Promise<ReadonlyMap<string, string>> {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    project,
    /** Its container and the start of that: another one after each start. Undefined while it does not run. */
    async identityOf(service: string): Promise<string | undefined> {
      const [id] = (await run(["ps", "--quiet", service])).out;
      if (id === undefined) return undefined;
      const format = "{{.Id}} {{.State.StartedAt}} {{.State.Running}}";
      const inspected = await runDocker({ args: ["inspect", "--format", format, id], env: environment });
      const [line = ""] = inspected.out;
      return line.endsWith(" true") ? line : undefined;
    },
    /** Whether its container is of this image as it is now: a name may have been given to another one since. */
    async runsImage(service: string, image: string): Promise<boolean> {
      const [id] = (await run(["ps", "--all", "--quiet", service])).out;
      if (id === undefined) return false;
      const asked = [
        ["inspect", "--format", "{{.Image}}", id],
        ["image", "inspect", "--format", "{{.Id}}", image],
      ];
      const [own, wanted] = await Promise.all(asked.map((args) => runDocker({ args, env: environment })));
      return own?.ok === true && wanted?.ok === true && own.out[0] === wanted.out[0];
    },
    /** What a program of Node.js writes in the container of a service; undefined where it fails. */
    async evaluate(service: string, program: string): Promise<string | undefined> {
      const asked = await run(["exec", "-T", service, "node", "--input-type=module", "-e", program]);
      return asked.ok ? asked.out.join("\n") : undefined;
    },
    /** What people edit. Ours have it at /app/config. */
    configFolder,
    feesFile: join(configFolder, "fees.yaml"),
    /** Other `docker` commands. */
    docker: (args: readonly string[]) => runDocker({ args, env: environment }),
  };
}

function readState(line: string): [service: string, state: string] {
  const [service = "", state = ""] = line.split(" ");
  return [service, state];
}
