import { readNetworkConfig } from "../../../genesis/config.ts";
import { CommandError, type OptionTable, textOf, type Values } from "../../../lib/cli/command.ts";
import type { CommandInput as NetworkInput } from "../../network/command.ts";
import { findNode } from "../../network/find-node.ts";
import type { NetworkNode, NodeData } from "../../network/nodes.ts";
import { openNodes } from "../../network/open-nodes.ts";
import type { CommandInput } from "../command.ts";

export const validatorOptions: OptionTable = {
  validator: { value: "N", text: "whose data: its number, such as 3" },
  native: { text: "the validators are processes of this machine (else containers)" },
  "network-config": { value: "FILE", text: "the network's configuration (else config/network.yaml)" },
};

/** What the commands of a network need to know of it, and one of its validators. */
export type ValidatorPlace = {
  network: Pick<NetworkInput, "folder" | "manifest" | "nodes" | "config" | "values" | "now" | "signal">;
  node: NetworkNode;
  data: NodeData;
};

/** Whether `--validator` or what belongs to it was asked for. @throws CommandError where one goes without the other. */
export function asksForValidator(values: Values): boolean {
  if (textOf(values, "validator") !== undefined) return true;
  const alone = ["native", "network-config"].find(
    (name) => values[name] !== undefined && values[name] !== false,
  );
  if (alone !== undefined)
    throw new CommandError(`--${alone} is for a validator's data: --validator N is missing.`, {
      exitCode: 2,
    });
  return false;
}

/** Finds `--validator` in the network of the configuration. */
export async function findValidator(
  { values, config, env, now }: Pick<CommandInput, "values" | "config" | "env" | "now">,
  signal: AbortSignal,
): Promise<ValidatorPlace> {
  const network = readNetworkConfig({ file: textOf(values, "network-config") ?? "config/network.yaml", env });
  const folder = config.networkFolder || network.folder;
  const native = values["native"] === true;
  const { manifest, nodes } = await openNodes({
    folder,
    native,
    at: undefined,
    portBase: network.native.portBase,
    env,
  });
  const node = findNode(nodes, textOf(values, "validator") ?? "");
  const data = nodes.dataOf?.(node.name);
  if (data === undefined)
    throw new CommandError(`${node.name} runs elsewhere: its data is saved there.`, { exitCode: 1 });
  // As the network's own commands would be given them, for the commands that are named in messages.
  const like: Values = { native, ...(folder === network.folder ? {} : { folder }) };
  return { network: { folder, manifest, nodes, config: network, values: like, now, signal }, node, data };
}
