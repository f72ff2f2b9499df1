import { CommandError, type Program } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { allowCommand } from "./allow.ts";
import type { FaucetCommand } from "./command.ts";
import { commonOptions, openContext } from "./context.ts";
import { denyCommand } from "./deny.ts";
import { listCommand } from "./list.ts";
import { pauseCommand, resumeCommand } from "./pause.ts";
import { statusCommand } from "./status.ts";

const program: Program<FaucetCommand> = {
  invocation: "npm run faucet --",
  commonOptions,
  commands: [allowCommand, denyCommand, listCommand, pauseCommand, resumeCommand, statusCommand],
};

/**
 * Runs one command line and answers its exit code: 0 done, 1 not possible (Redis does not answer, the allowlist's file
 * cannot be used), 2 the command line or the configuration is wrong. `print` is for what was asked for, `note` for
 * everything that is said beside it.
 */
export async function runFaucet({
  args,
  env,
  print,
  note,
}: {
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  print: (text: string) => void;
  note: (text: string) => void;
}): Promise<0 | 1 | 2> {
  try {
    const read = readCommandLine(program, args);
    if (read.kind === "help") {
      print(read.text);
      return 0;
    }
    const { command, values, positionals } = read;
    const context = await openContext({ values, env, note });
    try {
      await command.run({ ...context, values, positionals, print, note });
    } finally {
      context.close();
    }
    return 0;
  } catch (error) {
    note(error instanceof Error ? error.message : String(error));
    if (error instanceof CommandError) return error.exitCode;
    return error instanceof ConfigError ? 2 : 1;
  }
}
