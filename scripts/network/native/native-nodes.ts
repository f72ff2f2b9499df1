import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { enode, type Manifest, type ManifestNode, slotOf } from "../../../genesis/manifest.ts";
import { nativeFolder } from "../../../genesis/write-network.ts";
import { checkPorts, type NeededPort } from "../../processes/check-ports.ts";
import type { NetworkNode, Nodes } from "../nodes.ts";
import { readVersions, versionFor } from "../upgrade/versions-file.ts";
import { besuArguments, besuEnvironment, loopback, type NativePorts, nativePorts } from "./besu-command.ts";
import { checkKeys } from "./check-keys.ts";
import { diskTrouble } from "./disk-trouble.ts";
import { findBesu, lookAtBesuHome } from "./find-besu.ts";
import { followFile } from "./follow-file.ts";
import { createNodeProcess, type NodeProcess } from "./node-process.ts";
import { besideValidators } from "./trace-node.ts";

export type NativeNodes = Nodes & {
  /** The number of the process and of its group, while it runs. */
  pidOf(name: string): Promise<number | undefined>;
};

const portsSchema = z.object({ portBase: z.int() });

/**
 * The validators as loopback processes of an unpacked Besu. `native/` in the network's folder holds their chains, logs
 * and process numbers. Keys, genesis and configuration are the containers' own.
 */
export async function openNativeNodes({
  folder: givenFolder,
  manifest,
  portBase: wantedPortBase,
  env,
}: {
  folder: string;
  manifest: Manifest;
  portBase: number;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<NativeNodes> {
  const folder = resolve(givenFolder);
  const staticNodesFile = join(folder, nativeFolder, "static-nodes.json");
  const portsFile = join(folder, nativeFolder, "ports.json");
  const { members, portBase } = await openMembers({ folder, manifest, portsFile, wantedPortBase });

  const { besuHome } = await readVersions(folder);
  const besuOf = (name: string) =>
    findBesu({ ...env, BESU_HOME: versionFor(besuHome, name) ?? env["BESU_HOME"] });

  const isFormer = (name: string) => manifest.formerValidators?.some((node) => node.name === name) === true;
  const isTraceNode = (name: string) => name === manifest.traceNode?.name;
  const current = members.filter(({ name }) => !isFormer(name) && !isTraceNode(name));
  const traceNode = members.find(({ name }) => isTraceNode(name));

  function memberOf(name: string): Member {
    const member = members.find((candidate) => candidate.name === name);
    if (member === undefined) throw new Error(`there is no ${name} in ${folder}`);
    return member;
  }

  async function missingBesu(names: readonly string[]): Promise<string | undefined> {
    const found = await Promise.all(names.map(besuOf));
    return found.flatMap((besu) => ("failed" in besu ? [besu.failed] : []))[0];
  }

  async function writeCommonFiles(): Promise<void> {
    const enodes = current.map(({ nodeId, ports }) => enode({ nodeId, host: loopback, port: ports.peer }));
    await mkdir(join(folder, nativeFolder), { recursive: true, mode: 0o700 });
    await writeFile(staticNodesFile, `${JSON.stringify(enodes, null, 2)}\n`);
    await writeFile(portsFile, JSON.stringify({ portBase }));
  }

  const nodes: NativeNodes = {
    list: current.map(networkNode),

    async obstacles(names) {
      const missing = await missingBesu(names);
      if (missing !== undefined) return [missing];
      const wanted = members.filter(({ name }) => names.includes(name));
      return [
        ...(await checkKeys({ folder, validators: wanted })),
        ...(await checkPorts(wanted.flatMap(neededPorts))),
      ];
    },

    troubleOf: (name) => diskTrouble(join(folder, nativeFolder, memberOf(name).name)),

    isRunning: async (name) => (await memberOf(name).process.pid()) !== undefined,

    identityOf: async (name) => (await memberOf(name).process.pid())?.toString(),

    besu: {
      track: "besuHome",
      look: (home) => lookAtBesuHome(home, env),
      runs: async (name, home) => versionFor(besuHome, name) === home,
    },

    pidOf: (name) => memberOf(name).process.pid(),

    async start(names) {
      const missing = await missingBesu(names);
      if (missing !== undefined) return { failed: missing };
      await writeCommonFiles();
      for (const name of names) {
        const besu = await besuOf(name);
        if ("failed" in besu) return besu;
        const { process, dataFolder, ports, javaMemoryMb } = memberOf(name);
        await mkdir(dataFolder, { recursive: true, mode: 0o700 });
        const failure = await process.start({
          program: besu.program,
          args: besuArguments({ folder, name, dataFolder, staticNodesFile, ports }),
          env: besuEnvironment({ env, javaMemoryMb }),
        });
        if (failure !== undefined) return { failed: `${name} could not be started: ${failure.failed}` };
      }
      return undefined;
    },

    stop: (name) => memberOf(name).process.stop(),

    dataOf: (name) => ({ kind: "folder", folder: memberOf(name).dataFolder }),

    async wipe(name) {
      await rm(memberOf(name).dataFolder, { recursive: true, force: true });
    },

    logs: ({ name, ...options }) => followFile({ file: memberOf(name).process.logFile, ...options }),
  };
  if (traceNode === undefined) return nodes;
  const node = networkNode(traceNode);
  const beside = besideValidators({
    node,
    process: traceNode.process,
    obstacles: nodes.obstacles,
    start: nodes.start,
    stopValidators: () => Promise.all(current.map(({ process }) => process.stop())),
  });
  return { ...nodes, traceNode: node, beside };
}

function networkNode({ name, address, ports }: Member): NetworkNode {
  return { name, address, rpcUrl: `http://${loopback}:${ports.http}` };
}

/** A node with its process and its addresses. */
type Member = Pick<ManifestNode, "name" | "address" | "nodeId"> & {
  javaMemoryMb: number;
  dataFolder: string;
  process: NodeProcess;
  ports: NativePorts;
};

async function openMembers({
  folder,
  manifest,
  portsFile,
  wantedPortBase,
}: {
  folder: string;
  manifest: Manifest;
  portsFile: string;
  wantedPortBase: number;
}): Promise<{ members: readonly Member[]; portBase: number }> {
  // What a former one has left can still be wiped.
  const { traceNode, javaMemoryMb } = manifest;
  const validators = [...manifest.validators, ...(manifest.formerValidators ?? [])].map((node) => ({
    ...node,
    javaMemoryMb,
  }));
  const nodes = [...validators, ...(traceNode === undefined ? [] : [traceNode])].map((node) => {
    const own = join(folder, nativeFolder, node.name);
    return { ...node, dataFolder: join(own, "data"), process: createNodeProcess({ folder: own }) };
  });
  const pids = await Promise.all(nodes.map(({ process }) => process.pid()));
  const isAnyRunning = pids.some((pid) => pid !== undefined);
  // Running nodes keep the ports of their start, even if the configuration has changed.
  const portBase = (isAnyRunning ? await readPortBase(portsFile) : undefined) ?? wantedPortBase;
  const members = nodes.map((node) => ({
    ...node,
    ports: nativePorts(portBase, slotOf(manifest, node.name)),
  }));
  return { members, portBase };
}

function neededPorts({ name, ports }: Member): NeededPort[] {
  const uses = { http: "JSON-RPC", ws: "WebSockets", metrics: "metrics", peer: "peers" } as const;
  return (["http", "ws", "metrics", "peer"] as const).map((use) => ({
    host: loopback,
    port: ports[use],
    owner: `${name}, ${uses[use]}`,
    changeWith: "NATIVE_PORT_BASE, or native.portBase in config/network.yaml",
  }));
}

async function readPortBase(file: string): Promise<number | undefined> {
  try {
    return portsSchema.parse(JSON.parse(await readFile(file, "utf8"))).portBase;
  } catch {
    return undefined;
  }
}
