import { CommandError, type Program, textOf } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { type BackupCommand, type CommandInput, commonOptions } from "./command.ts";
import { initCommand } from "./commands/init.ts";
import { listCommand } from "./commands/list.ts";
import { restoreCommand } from "./commands/restore.ts";
import { shipCommand } from "./commands/ship.ts";
import { takeCommand } from "./commands/take.ts";
import { verifyCommand } from "./commands/verify.ts";
import { readBackupConfig } from "./config.ts";

const program: Program<BackupCommand> = {
  invocation: "npm run backup --",
  commonOptions,
  commands: [initCommand, takeCommand, listCommand, verifyCommand, restoreCommand, shipCommand],
};

/** Runs one command line. @returns its exit code: 0 done, 1 not possible or not whole, 2 the command line or the configuration is wrong. */
export async function runBackup({
  args,
  ...io
}: Pick<CommandInput, "env" | "interruption" | "now" | "print" | "note"> & {
  args: readonly string[];
}): Promise<0 | 1 | 2> {
  try {
    const read = readCommandLine(program, args);
    if (read.kind === "help") {
      io.print(read.text);
      return 0;
    }
    const { command, values, positionals } = read;
    const config = readBackupConfig({ file: textOf(values, "config") ?? "config/backup.yaml", env: io.env });
    const [to, keys] = [textOf(values, "to") ?? config.to, textOf(values, "keys") ?? config.keys];
    await command.run({
      ...io,
      config: { ...config, to, keys },
      values,
      positionals,
      json: values["json"] === true,
    });
    return 0;
  } catch (error) {
    if (error instanceof ConfigError) {
      io.note(`The configuration of backups cannot be used:\n  ${error.problems.join("\n  ")}`);
      return 2;
    }
    io.note(error instanceof Error ? error.message : String(error));
    return error instanceof CommandError ? error.exitCode : 1;
  }
}
