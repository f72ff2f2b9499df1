import { exitCodes } from "./chain/network-status.ts";
import type { NetworkCommand } from "./command.ts";
import { commandLike } from "./command-like.ts";
import { showStatus } from "./show-status.ts";

export const statusCommand: NetworkCommand = {
  name: "status",
  positionals: [],
  summary: "Shows how the chain and each validator are.",
  details: [
    "Who sealed a block is the union of what all validators saw. Exits with 0 where all is fine, 1 where the chain is",
    "stalled, 2 at the edge of quorum: one more validator down and it stalls.",
  ],
  options: {},
  examples: ["status --native", "status --native --json"],
  async run(input) {
    const { verdict, validators } = await showStatus(input);
    if (verdict === "stalled" && !input.json) {
      // A network that never started is not stalled: there is nothing to restart.
      const isDown = validators.every(({ state }) => state === "stopped");
      input.note(
        isDown
          ? `\nNo validator runs. To start the network: npm run network -- ${commandLike(input, "up")}`
          : `\nTo restart all validators together: npm run network -- ${commandLike(input, "recover")}`,
      );
    }
    return exitCodes[verdict];
  },
};
