import { json } from "../../lib/cli/format.ts";
import { bringUp, tellNotUp } from "./bring-up.ts";
import { askNode, readQuantity } from "./chain/ask-node.ts";
import { answerOf } from "./chain/wait-for-nodes.ts";
import type { NetworkCommand } from "./command.ts";
import { findNode } from "./find-node.ts";

export const startCommand: NetworkCommand = {
  name: "start",
  positionals: ["N"],
  summary: "Starts validator N and waits until it answers.",
  details: ["After a stall recover is faster: those that kept running are in a long round by then."],
  options: {},
  examples: ["start 3 --native"],
  async run({ positionals: [word = ""], nodes, json: asJson, print, note, signal, progress }) {
    const { name, rpcUrl } = findNode(nodes, word);
    const runAlready = await nodes.isRunning(name);
    // A container that ends at each start runs most of the time, so only an answer proves that a node is up.
    if (runAlready && (await heightOf(rpcUrl)) !== undefined) {
      print(asJson ? json({ started: [] }) : `${name} runs already; nothing was changed.`);
      return 0;
    }
    const result = await bringUp({
      nodes,
      names: [name],
      signal,
      progress,
      goal: answerOf(name),
      runAlready,
    });
    if ("failed" in result) return tellNotUp(result, note);
    const { height } = result;
    print(asJson ? json({ started: [name], height }) : `${name} answers, at block ${height}.`);
    return 0;
  },
};

async function heightOf(rpcUrl: string): Promise<number | undefined> {
  return readQuantity((await askNode(rpcUrl, [{ method: "eth_blockNumber" }]))?.[0]);
}
