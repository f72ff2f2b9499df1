import { type Manifest, readManifest } from "../../genesis/manifest.ts";
import { CommandError } from "../../lib/cli/command.ts";
import { openDockerNodes } from "./docker/docker-nodes.ts";
import { openNodesElsewhere } from "./elsewhere/nodes-elsewhere.ts";
import { openNativeNodes } from "./native/native-nodes.ts";
import type { Nodes } from "./nodes.ts";

/** The network of a folder and its nodes: where `at` says, as processes of this machine, or as containers. */
export async function openNodes({
  folder,
  at,
  native,
  portBase,
  env,
}: {
  folder: string;
  at: string | undefined;
  native: boolean;
  portBase: number;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<{ manifest: Manifest; nodes: Nodes }> {
  const read = readManifest(folder);
  if ("problem" in read) throw new CommandError(read.problem, { exitCode: 1 });
  const { manifest } = read;
  if (at !== undefined) return { manifest, nodes: openNodesElsewhere({ manifest, at }) };
  const nodes = native
    ? await openNativeNodes({ folder, manifest, portBase, env })
    : await openDockerNodes({ folder, manifest, env });
  return { manifest, nodes };
}
