import { json } from "../../lib/cli/format.ts";
import { bringUp, tellNotUp } from "./bring-up.ts";
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
    const { name } = findNode(nodes, word);
    if (await nodes.isRunning(name)) {
      print(asJson ? json({ started: [] }) : `${name} runs already; nothing was changed.`);
      return 0;
    }
    const result = await bringUp({ nodes, names: [name], signal, progress, goal: answerOf(name) });
    if ("failed" in result) return tellNotUp(result, note);
    const { height } = result;
    print(asJson ? json({ started: [name], height }) : `${name} answers, at block ${height}.`);
    return 0;
  },
};
