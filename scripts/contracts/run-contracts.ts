import { CommandError, type Program } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { checkCommand } from "./check.ts";
import type { CommandInput, ContractsCommand, ExitCode } from "./command.ts";
import { compileCommand } from "./compile.ts";
import { deployCommand } from "./deploy.ts";
import { gasCommand } from "./gas.ts";
import { mutantsCommand } from "./mutants.ts";
import { allowSignerCommand, listSignersCommand, revokeSignerCommand } from "./signers.ts";
import { slitherCommand } from "./slither.ts";
import { testCommand } from "./test.ts";

const program: Program<ContractsCommand> = {
  invocation: "npm run contracts --",
  commonOptions: {},
  commands: [
    deployCommand,
    checkCommand,
    listSignersCommand,
    allowSignerCommand,
    revokeSignerCommand,
    compileCommand,
    testCommand,
    mutantsCommand,
    gasCommand,
    slitherCommand,
  ],
};

/**
 * Runs one command line and answers its exit code: 0 done, 1 not possible or not as it should be, 2 the command line or a
 * configuration is wrong.
 */
export async function runContracts({
  args,
  env,
  print,
  note,
}: { args: readonly string[] } & Pick<CommandInput, "env" | "print" | "note">): Promise<ExitCode> {
  try {
    const read = readCommandLine(program, args);
    if (read.kind === "help") {
      print(read.text);
      return exitCodes.done;
    }
    const { command, values, positionals } = read;
    return await command.run({ values, positionals, env, print, note });
  } catch (error) {
    note(error instanceof Error ? error.message : String(error));
    if (error instanceof CommandError) return error.exitCode;
    return error instanceof ConfigError ? exitCodes.unusable : exitCodes.failed;
  }
}
