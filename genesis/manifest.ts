import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { fixedPort } from "../lib/config/schemas.ts";

/** What a network's folder says of itself, in network.json: for whoever runs it. */
export type Manifest = z.output<typeof manifestSchema>;
/** What a node's configuration needs to know of where it is. */
export type NodePlace = Omit<ManifestNode, "address" | "nodeId">;
export type ManifestNode = Manifest["validators"][number];

export const manifestName = "network.json";

const nodeShape = {
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  nodeId: z.string().regex(/^[0-9a-f]{128}$/),
  /** Its address and ports as a container; a name where Kubernetes runs it. */
  host: z.union([z.ipv4(), z.hostname()]),
  peerPort: fixedPort,
  httpPort: fixedPort,
  metricsPort: fixedPort,
  /** Which ports it has as a process of this machine (`--native`). Without it: its place in the list, a trace node's behind them. */
  slot: z.int().min(0).optional(),
};

const validatorSchema = z.strictObject({
  /** `validator-1`, also the name of its folder. */
  name: z.string().regex(/^validator-[1-9]\d*$/),
  ...nodeShape,
});

const manifestSchema = z.strictObject({
  chainId: z.int().positive(),
  consensus: z.enum(["ibft2", "qbft"]),
  genesisHash: z.string().regex(/^0x[0-9a-f]{64}$/),
  blockSeconds: z.int().positive(),
  requestTimeoutSeconds: z.int().positive(),
  javaMemoryMb: z.int().positive(),
  /** The nodes that are run. Who of them validates is what the chain's newest header says: votes change it. */
  validators: z.array(validatorSchema).min(1),
  /** Voted out and stopped. Name, address and ports stay theirs, so that no other node is taken for them. */
  formerValidators: z.array(validatorSchema).optional(),
  /** A node that validates nothing and runs traces, where there is one. */
  traceNode: z
    .strictObject({ name: z.literal("trace-node"), ...nodeShape, javaMemoryMb: z.int().positive() })
    .optional(),
});

/** The slot of a node of this network, by its name. */
export function slotOf({ validators, traceNode, formerValidators = [] }: Manifest, name: string): number {
  const former = formerValidators.find((node) => node.name === name);
  if (former?.slot !== undefined) return former.slot;
  const index = validators.findIndex((node) => node.name === name);
  if (index !== -1) return validators[index]?.slot ?? index;
  if (traceNode?.name === name) return traceNode.slot ?? validators.length;
  throw new Error(`there is no ${name} in this network`);
}

/** How Besu is told of a node: https://besu.hyperledger.org/public-networks/concepts/node-keys#enode-url */
export function enode({ nodeId, host, port }: { nodeId: string; host: string; port: number }): string {
  return `enode://${nodeId}@${host}:${port}`;
}

/** Reads the manifest of a network's folder, or says why there is none to use. */
export function readManifest(folder: string): { manifest: Manifest } | { problem: string } {
  const file = join(folder, manifestName);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return {
      problem: `There is no network in ${folder}. To make one: npm run genesis -- init --out ${folder}`,
    };
  }
  try {
    return { manifest: manifestSchema.parse(JSON.parse(text)) };
  } catch {
    return { problem: `${file} is not what npm run genesis -- init writes: has it been changed by hand?` };
  }
}
