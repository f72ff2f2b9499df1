import { json } from "../../lib/cli/format.ts";
import { bringUp, tellNotUp } from "./bring-up.ts";
import { askNode, readQuantity } from "./chain/ask-node.ts";
import { answerOf } from "./chain/wait-for-nodes.ts";
import type { NetworkCommand } from "./command.ts";
import { commandLike } from "./command-like.ts";
import { findNode } from "./find-node.ts";
import type { Nodes } from "./nodes.ts";

export const wipeCommand: NetworkCommand = {
  name: "wipe",
  positionals: ["N"],
  summary: "Removes the chain of validator N, which then fetches it from the others.",
  details: [
    "Its key stays. One that runs is stopped before and started after, one that is down stays so. Refused where no other validator answers, since the",
    "chain might then be gone: --force does it all the same.",
  ],
  options: { force: { text: "also where no other validator answers" } },
  examples: ["wipe 3 --native"],
  async run(input) {
    const {
      positionals: [word = ""],
      values,
      nodes,
      json: asJson,
      print,
      note,
      signal,
      progress,
    } = input;
    const { name } = findNode(nodes, word);
    const heldBy = await othersAt(nodes, name);
    if (heldBy === undefined && values["force"] !== true) {
      note(
        `No other validator answers, so ${name} may have the only copy of the chain: --force removes it all the same.`,
      );
      return 1;
    }
    const wasRunning = await nodes.isRunning(name);
    await nodes.stop(name);
    await nodes.wipe(name);
    if (wasRunning) {
      const result = await bringUp({ nodes, names: [name], signal, progress, goal: answerOf(name) });
      if ("failed" in result) return tellNotUp(result, note);
    }
    if (asJson) print(json({ wiped: [name], started: wasRunning ? [name] : [] }));
    else
      print(
        `The chain of ${name} is removed; ${wasRunning ? fetching(heldBy) : "it was down and still is"}.`,
      );
    if (!wasRunning && !asJson)
      note(`To start it: npm run network -- ${commandLike(input, `start ${word}`)}`);
    return 0;
  },
};

function fetching(height: number | undefined): string {
  return height === undefined
    ? "it runs again"
    : `it runs again and fetches ${height} blocks from the others`;
}

/** The highest block that another validator has. */
async function othersAt(nodes: Nodes, name: string): Promise<number | undefined> {
  const others = nodes.list.filter((node) => node.name !== name);
  const heights = await Promise.all(
    others.map(async ({ rpcUrl }) =>
      readQuantity((await askNode(rpcUrl, [{ method: "eth_blockNumber" }]))?.[0]),
    ),
  );
  const known = heights.flatMap((height) => height ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
}
