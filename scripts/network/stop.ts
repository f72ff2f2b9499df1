import { json } from "../../lib/cli/format.ts";
import { quorumOf } from "../../lib/ibft/quorum.ts";
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
    await nodes.stop(name);
    const running = await Promise.all(nodes.list.map((node) => nodes.isRunning(node.name)));
    const left = running.filter(Boolean).length;
    if (asJson) print(json({ stopped: wasRunning ? [name] : [], running: left }));
    else print(wasRunning ? `${name} is stopped.` : `${name} was not running.`);
    const quorum = quorumOf(nodes.list.length);
    if (left < quorum)
      note(`${left} of ${nodes.list.length} run, ${quorum} are needed: the chain stands still.`);
    return 0;
  },
};
