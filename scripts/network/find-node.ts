import { CommandError } from "../../lib/cli/command.ts";
import type { NetworkNode, Nodes } from "./nodes.ts";

/** The validator that `3` or `validator-3` means. Throws a CommandError for any other word. */
export function findNode(nodes: Nodes, word: string): NetworkNode {
  const name = /^\d+$/.test(word) ? `validator-${Number(word)}` : word;
  const node = nodes.list.find((candidate) => candidate.name === name);
  if (node !== undefined) return node;
  const numbers = nodes.list.map((candidate) => candidate.name.slice("validator-".length)).join(", ");
  throw new CommandError(`There is no validator ${word}: ${numbers} were expected.`, { exitCode: 2 });
}
