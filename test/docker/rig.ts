import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import { z } from "zod";
import { readNetworkConfig } from "../../genesis/config.ts";
import { readManifest } from "../../genesis/manifest.ts";
import { runGenesis } from "../../genesis/run-genesis.ts";
import { exitCodes } from "../../scripts/network/chain/network-status.ts";
import { createCompose } from "../../scripts/network/docker/compose.ts";
import { openDockerNodes } from "../../scripts/network/docker/docker-nodes.ts";
import { handOver } from "../../scripts/network/docker/hand-over.ts";
import { runDocker } from "../../scripts/network/docker/run-docker.ts";
import { runNetwork } from "../../scripts/network/run-network.ts";
import { currentStatus } from "../../scripts/network/show-status.ts";
import { processIdentity } from "../../scripts/processes/process-identity.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { imageVariables } from "./build-images.ts";
import type { DockerEnvironment } from "./start-docker.ts";

const waitMs = 60_000;
const pollMs = 200;
/** What `docker inspect` says of a container. */
const containerSchema = z.object({
  Name: z.string(),
  RestartCount: z.number(),
  State: z.object({
    Pid: z.number(),
    Status: z.string(),
    Health: z.object({ Status: z.string() }).optional(),
  }),
  Config: z.object({
    User: z.string(),
    Image: z.string(),
    Env: z.array(z.string()).nullable(),
    Labels: z.record(z.string(), z.string()),
  }),
  Mounts: z.array(z.object({ Source: z.string(), Destination: z.string() })),
  Args: z.array(z.string()),
  HostConfig: z.looseObject({
    PortBindings: z.record(z.string(), z.array(z.object({ HostIp: z.string() }))).nullable(),
  }),
});

export type Container = z.output<typeof containerSchema>;

const projectPrefix = "tollgate-test-";
/** What compose calls this run's containers. */
export const testProject = () => `${projectPrefix}${process.pid}`;

/** A run that was killed leaves containers and networks behind, and with them their addresses taken. */
export async function removeLeftOvers(env: DockerEnvironment): Promise<void> {
  const label = '{{.Label "com.docker.compose.project"}}';
  const lists = [
    ["ps", "--all"],
    ["network", "ls"],
    ["volume", "ls"],
  ];
  const lines = await Promise.all(
    lists
      .map((words) => [...words, "--format", label])
      .map(async (args) => (await runDocker({ args, env })).out),
  );
  const projects = new Set(lines.flat().filter((name) => name.startsWith(projectPrefix)));
  for (const project of projects) {
    const owner = Number(project.slice(projectPrefix.length));
    if (owner === process.pid || (await processIdentity(owner)) !== undefined) continue;
    await runDocker({
      args: ["compose", "--project-name", project, "down", "--volumes", "--timeout", "0"],
      env,
    });
  }
}

/** `npm run network -- …` in this process. */
export function networkHere({
  folder,
  configFile,
  env,
}: {
  /** The network's. */
  folder: string;
  configFile: string;
  env: DockerEnvironment;
}) {
  async function network(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runNetwork({
      args: [...args, "--folder", folder, "--config", configFile],
      env,
      now: Date.now,
      signal: new AbortController().signal,
      progress: { show: () => {}, end: () => {} },
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  }

  let opened: ReturnType<typeof open> | undefined;
  function open() {
    const read = readManifest(folder);
    if ("problem" in read) throw new Error(read.problem);
    const { manifest } = read;
    const config = readNetworkConfig({ file: configFile, env });
    return openDockerNodes({ folder, manifest, env }).then((nodes) => ({
      nodes,
      manifest,
      config,
      now: Date.now,
    }));
  }

  /** What `status` says, without its start: a test asks often. */
  async function status() {
    opened ??= open();
    const now = await currentStatus(await opened);
    return { ...now, code: exitCodes[now.verdict] };
  }

  return { network, status };
}

/**
 * Names, addresses and ports of a test's own, by which its containers run beside those of others: three subnets from
 * 172.28.`subnet`.0 on, which no other test of this folder has.
 */
export async function ownPlace({ env, subnet }: { env: DockerEnvironment; subnet: number }) {
  const ports = { gateway: await reservePort(), faucet: await reservePort(), api: await reservePort() };
  return {
    ports,
    firstAddress: `172.28.${subnet}.11`,
    env: {
      ...env,
      ...imageVariables,
      COMPOSE_PROJECT_NAME: testProject(),
      GATEWAY_PORT: String(ports.gateway),
      FAUCET_PORT: String(ports.faucet),
      API_PORT: String(ports.api),
      SERVICES_SUBNET: `172.28.${subnet + 1}.0/24`,
      GRAFANA_ADDRESS: `172.28.${subnet + 1}.30`,
      CLAIMS_SUBNET: `172.28.${subnet + 2}.0/29`,
      FAUCET_PRIVATE_ADDRESS: `172.28.${subnet + 2}.6`,
      PAGES_SUBNET: `172.28.${subnet + 2}.8/29`,
      API_PAGES_ADDRESS: `172.28.${subnet + 2}.14`,
      // Whoever waits for a container's health waits for one or two of these.
      HEALTH_INTERVAL: "2s",
      // A sandbox may allow no more, and have a private /.
      OPEN_FILES: "8192",
      HOST_PROPAGATION: "",
    },
  };
}

/** A network's configuration that waits for little. */
export function quickNetwork({ firstAddress }: { firstAddress: string }): string {
  const settings = ["blockSeconds: 1", "requestTimeoutSeconds: 2", "status: { stalledAfterSeconds: 5 }"];
  return [...settings, `containers: { firstAddress: ${firstAddress} }`, ""].join("\n");
}

/** A network in a folder of the test's own, of stand-in images, beside which another one of the same machine can run. */
export async function makeNetwork(t: Test, dockerEnvironment: DockerEnvironment, place: { subnet: number }) {
  await removeLeftOvers(dockerEnvironment);
  const parent = testFolder(t, {});
  const folder = join(parent, "network");
  const configFile = join(parent, "network.yaml");
  const { env, ports, firstAddress } = await ownPlace({ env: dockerEnvironment, ...place });
  writeFileSync(configFile, quickNetwork({ firstAddress }));
  const made = await runGenesis({
    args: ["init", "--config", configFile, "--out", folder],
    env,
    now: () => new Date(),
    print: () => {},
    note: t.comment,
  });
  if (made !== 0) throw new Error("there is no network");
  const compose = createCompose({ folder, owner: await handOver(folder), env });
  t.teardown(() => compose.run(["--profile", "*", "down", "--volumes", "--timeout", "2"]));

  const { network, status } = networkHere({ folder, configFile, env });

  async function containers(): Promise<Map<string, Container>> {
    const ids = await compose.mustRun(["ps", "--all", "--quiet"]);
    const inspected = await runDocker({ args: ["inspect", ...ids], env });
    const all = z.array(containerSchema).parse(JSON.parse(inspected.out.join("\n")));
    return new Map(all.map((one) => [one.Config.Labels["com.docker.compose.service"] ?? one.Name, one]));
  }

  return {
    parent,
    folder,
    env,
    ports,
    compose,
    network,
    status,
    containers,
    secret: (name: string) => readFileSync(join(folder, "secrets", name), "utf8").trim(),
    /** What a command says in the container of a service. */
    inside: (service: string, ...command: string[]) => compose.run(["exec", "-T", service, ...command]),
    async container(service: string): Promise<Container> {
      const found = (await containers()).get(service);
      if (found === undefined) throw new Error(`there is no container of ${service}`);
      return found;
    },
    /** Asks until it is so. */
    async until<Value>(ask: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> {
      const giveUpAt = Date.now() + waitMs;
      for (;;) {
        const value = await ask();
        if (isSo(value)) return value;
        if (Date.now() > giveUpAt) throw new Error(`it never was so: ${JSON.stringify(value, null, 1)}`);
        await sleep(pollMs);
      }
    },
  };
}
