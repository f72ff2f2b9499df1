import { bringUp, tellNotUp } from "./bring-up.ts";
import type { NetworkCommand } from "./command.ts";
import { currentStatus, showStatus } from "./show-status.ts";

export const recoverCommand: NetworkCommand = {
  name: "recover",
  positionals: [],
  summary: "After a stall: restarts all validators together and waits for the next block.",
  details: [
    "While a chain stands still, rounds take twice as long each time: validators that kept running would first have to end",
    "theirs. All restarted together begin with round 0. Nothing is done where the chain is not stalled.",
  ],
  options: {},
  examples: ["recover --native"],
  async run(input) {
    const { nodes, note, json, print, signal, progress } = input;
    const before = await currentStatus(input);
    if (before.verdict !== "stalled") {
      if (!json) print("The chain is not stalled; nothing was restarted.\n");
      await showStatus(input, { restarted: [] });
      return 0;
    }
    // Whatever would keep them from starting has to be known before they stop.
    const obstacles = await nodes.obstacles([]);
    if (obstacles.length > 0) {
      note(obstacles.join("\n"));
      return 1;
    }
    const names = nodes.list.map(({ name }) => name);
    await Promise.all(names.map((name) => nodes.stop(name)));
    const result = await bringUp({ nodes, names, signal, progress });
    if ("failed" in result) return tellNotUp(result, note);
    const tookSeconds = Math.round(result.tookMs / 1000);
    if (!json) print(`The chain goes on: block ${result.height} after ${tookSeconds} s.\n`);
    await showStatus(input, { restarted: names, tookSeconds });
    return 0;
  },
};
