import { textOf } from "../../lib/command-line/command.ts";
import { exitCodes } from "./chain/network-status.ts";
import type { CommandInput, NetworkCommand } from "./command.ts";
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
    const { verdict } = await showStatus(input);
    if (verdict === "stalled" && !input.json) {
      input.note(`\nTo restart all validators together: npm run network -- ${commandLike(input, "recover")}`);
    }
    return exitCodes[verdict];
  },
};

/** Another command with the options that say which network is meant. */
function commandLike({ values }: Pick<CommandInput, "values">, name: string): string {
  const given = ["folder", "config"].flatMap((option) => {
    const text = textOf(values, option);
    return text === undefined ? [] : [`--${option} ${text}`];
  });
  return [name, ...(values["native"] === true ? ["--native"] : []), ...given].join(" ");
}
