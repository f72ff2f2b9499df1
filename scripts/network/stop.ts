import { json } from "../../lib/cli/format.ts";
import { quorumOf } from "../../lib/ibft/quorum.ts";
import { readHead } from "./chain/follow-blocks.ts";
import type { NetworkCommand } from "./command.ts";
import { findNode } from "./find-node.ts";

export const stopCommand: NetworkCommand = {
  name: "stop",
  positionals: ["N"],
  summary: "Stops validator N.",
  details: ["Says so where too few are left to make blocks."],
  options: {},
  examples: ["stop 3 --native"],
  async run({ positionals: [word = ""], nodes, json: asJson, print, note }) {
    const { name } = findNode(nodes, word);
    const wasRunning = await nodes.isRunning(name);
    // Who validates is what the chain says; before its first block all nodes do.
    const members = (await readHead(nodes.list))?.extraData.validators ?? [];
    await nodes.stop(name);
    const running = await Promise.all(nodes.list.map((node) => nodes.isRunning(node.name)));
    const counted = (address: string) => members.length === 0 || members.includes(address);
    const left = nodes.list.filter(
      ({ address }, index) => running[index] === true && counted(address),
    ).length;
    const all = members.length || nodes.list.length;
    if (asJson) print(json({ stopped: wasRunning ? [name] : [], running: left }));
    else print(wasRunning ? `${name} is stopped.` : `${name} was not running.`);
    const quorum = quorumOf(all);
    if (left < quorum) note(`${left} of ${all} run, ${quorum} are needed: the chain stands still.`);
    return 0;
  },
};
