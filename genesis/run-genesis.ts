import { CommandError, type Program } from "../lib/cli/command.ts";
import { readCommandLine } from "../lib/cli/read-command-line.ts";
import { ConfigError } from "../lib/config/read-config.ts";
import { type CommandInput, commonOptions, type GenesisCommand } from "./command.ts";
import { feeKeysCommand } from "./fee-keys.ts";
import { initCommand } from "./init.ts";
import { inspectCommand } from "./inspect.ts";
import { keystoreCommand } from "./keystore.ts";

const program: Program<GenesisCommand> = {
  invocation: "npm run genesis --",
  commonOptions,
  commands: [initCommand, inspectCommand, keystoreCommand, feeKeysCommand],
};

/**
 * Runs one command line and answers its exit code: 0 done, 1 not possible (or `inspect` found a problem), 2 the command
 * line or the configuration is wrong, or a network is there already.
 */
export async function runGenesis({
  args,
  ...io
}: Pick<CommandInput, "env" | "now" | "print" | "note"> & { args: readonly string[] }): Promise<0 | 1 | 2> {
  try {
    const read = readCommandLine(program, args);
    if (read.kind === "run") return await read.command.run({ ...read, ...io });
    io.print(read.text);
    return 0;
  } catch (error) {
    if (error instanceof ConfigError) {
      io.note(`The network's configuration cannot be used:\n  ${error.problems.join("\n  ")}`);
      return 2;
    }
    io.note(error instanceof Error ? error.message : String(error));
    return error instanceof CommandError ? error.exitCode : 1;
  }
}
