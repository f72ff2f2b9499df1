import { resolve } from "node:path";
import type { Manifest, ManifestNode } from "../../../genesis/manifest.ts";
import { containerPaths } from "../../../genesis/node-config.ts";
import { addRedisUsers } from "../../../genesis/redis-users.ts";
import { CommandError } from "../../../lib/cli/command.ts";
import { checkKeys } from "../native/check-keys.ts";
import type { NetworkNode, Nodes } from "../nodes.ts";
import { readBesuVersion } from "../upgrade/besu-version.ts";
import { createCompose } from "./compose.ts";
import { formerProfile, shippedNames, writeComposeOverride } from "./compose-override.ts";
import { tellTroubles, troubleOf, whatToDo } from "./container-troubles.ts";
import { createServices } from "./docker-services.ts";
import { dockerProblem } from "./find-docker.ts";
import { handOver } from "./hand-over.ts";
import { lookAtImage } from "./look-at-image.ts";
import { profilesOf } from "./profiles.ts";

const healthyWithinSeconds = 180;
/** Gives the volumes to their user and ends. */
const volumesService = "volumes";
/** Makes the api's key where it has none, and ends. */
const apiKeyService = "api-key";
const apiService = "api";

/**
 * The validators as containers of docker/compose.yaml, at the fixed addresses that genesis wrote into their configuration.
 * @throws CommandError where containers cannot be run here.
 */
export async function openDockerNodes({
  folder: givenFolder,
  manifest,
  env,
}: {
  folder: string;
  manifest: Manifest;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<Nodes> {
  const folder = resolve(givenFolder);
  const { validators, traceNode } = manifest;
  const keyed = [...validators, ...(traceNode === undefined ? [] : [traceNode])];
  const nodes = [...validators, ...(manifest.formerValidators ?? [])].map(({ name }) => name);
  const problem = shippedNames.every((name) => nodes.includes(name))
    ? await dockerProblem(env)
    : `docker/compose.yaml has ${shippedNames.length} validators, and the network in ${givenFolder} has ` +
      `${validators.length}: run it as processes, with --native.`;
  if (problem !== undefined) throw new CommandError(problem, { exitCode: 1 });
  await addRedisUsers(folder);
  const compose = createCompose({
    folder,
    override: await writeComposeOverride(folder, manifest),
    owner: await handOver(folder),
    // With those that are no validators any more: what they have left can still be removed.
    env: {
      ...env,
      COMPOSE_PROFILES: [profilesOf({ env, folder, manifest }), formerProfile].filter(Boolean).join(","),
    },
  });

  /**
   * Starts services without their dependencies: one validator that is down must not keep a gateway from starting.
   * @returns why it failed.
   */
  async function upBeside(names: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const wait = ["--wait", "--wait-timeout", String(healthyWithinSeconds)];
    const started = await compose.run(["up", "--detach", "--no-deps", ...wait, ...names], { signal });
    if (started.ok) return undefined;
    const troubles = signal.aborted ? "" : await tellTroubles(compose, names);
    return troubles === "" ? started.why : `${started.why}\n${troubles}`;
  }

  /** The api needs its key first, and the key needs Redis. A running api has it. */
  async function upApi(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    if ((await compose.states()).get(apiService) !== "running") {
      const made = await compose.run(["run", "--rm", "--no-deps", "-T", apiKeyService], { signal });
      if (!made.ok) return `the api has no key for the gateway: ${made.why}\n${whatToDo(apiService)}`;
    }
    return upBeside([apiService], signal);
  }

  const ours = createServices({ folder, compose, upBeside });
  return {
    list: validators.map(networkNode),
    ...(traceNode === undefined ? {} : { traceNode: networkNode(traceNode) }),

    obstacles: (names) => checkKeys({ folder, validators: keyed.filter(({ name }) => names.includes(name)) }),

    troubleOf: (name) => troubleOf(compose, name),
    whatToDo,

    async isRunning(name) {
      return (await compose.states()).get(name) === "running";
    },

    identityOf: (name) => compose.identityOf(name),

    besu: {
      track: "besuImage",
      look: (image, { fetch }) =>
        lookAtImage({
          image,
          fetch,
          docker: compose.docker,
          run: { options: [], words: ["--version"] },
          read: readBesuVersion,
        }),
      runs: compose.runsImage,
    },

    services: ours,

    async start(names) {
      // Their dependency starts with them: the service that gives them their volumes.
      const started = await compose.run(["up", "--detach", ...names]);
      if (started.ok) return undefined;
      return { failed: `${started.why}\n${whatToDo("volumes")}` };
    },

    async stop(name) {
      await compose.mustRun(["stop", name]);
    },

    dataOf: (name) => ({
      kind: "volume",
      folder: containerPaths.data,
      // Only while the node is down: the container takes its address.
      beside: ([program = "", ...words]) =>
        compose.line(["run", "--rm", "--no-deps", "-T", "--entrypoint", program, name, ...words]),
    }),

    async wipe(name) {
      await compose.mustRun(["rm", "--force", "--stop", name]);
      await removeVolume(compose, name);
    },

    async logs({ name, linesMax, follow, signal, onLine }) {
      const options = ["--no-color", "--no-log-prefix", "--tail", String(linesMax)];
      await compose.run(["logs", ...options, ...(follow ? ["--follow"] : []), name], { signal, onLine });
    },

    beside: {
      async up(signal) {
        const { services } = await compose.project();
        const notBeside = [volumesService, apiKeyService, apiService];
        const others = services.filter(
          (service) => !notBeside.includes(service) && !service.startsWith("validator-"),
        );
        const failures = [await upBeside(others, signal), await upApi(signal)].filter(
          (why) => why !== undefined,
        );
        if (failures.length > 0) return { failed: failures.join("\n") };
        await ours.keepConfig();
        return undefined;
      },
      // Also the services of other profiles.
      down: async () => void (await compose.mustRun(["--profile", "*", "down"])),
    },
  };
}

function networkNode({ name, address, host, httpPort }: Omit<ManifestNode, "nodeId">): NetworkNode {
  return { name, address, rpcUrl: `http://${host}:${httpPort}` };
}

async function removeVolume(compose: ReturnType<typeof createCompose>, name: string): Promise<void> {
  const { volumes } = await compose.project();
  const volume = volumes[name]?.name;
  if (volume === undefined) throw new Error(`docker/compose.yaml has no volume ${name}`);
  // The container that changed its owner still holds the volume.
  await compose.mustRun(["rm", "--force", volumesService]);
  const removed = await compose.docker(["volume", "rm", "--force", volume]);
  if (!removed.ok) throw new Error(`the volume ${volume} cannot be removed: ${removed.why}`);
}
