import { CommandError, type Program } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { CommandInput, WebhooksCommand } from "./command.ts";
import { listenCommand } from "./listen.ts";

const program: Program<WebhooksCommand> = {
  invocation: "npm run webhooks --",
  commonOptions: { help: { text: "this text" } },
  commands: [listenCommand],
};

/** Runs one command line and answers its exit code: 0 done, 1 not possible (the key is refused, no API), 2 the command line is wrong. */
export async function runWebhooks({
  args,
  ...input
}: { args: readonly string[] } & Omit<CommandInput, "values">): Promise<0 | 1 | 2> {
  try {
    const read = readCommandLine(program, args);
    if (read.kind === "help") input.print(read.text);
    else await read.command.run({ ...input, values: read.values });
    return exitCodes.done;
  } catch (error) {
    input.note(error instanceof Error ? error.message : String(error));
    return error instanceof CommandError ? error.exitCode : exitCodes.failed;
  }
}
