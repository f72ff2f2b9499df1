import { CommandError, type Program } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ApiCommand } from "./command.ts";
import { confirmCommand } from "./confirm.ts";
import { commonOptions, findPostgresUrl } from "./find-postgres-url.ts";
import { migrateCommand } from "./migrate.ts";
import { statusCommand } from "./status.ts";

const program: Program<ApiCommand> = {
  invocation: "npm run api --",
  commonOptions,
  commands: [migrateCommand, statusCommand, confirmCommand],
};

/**
 * Runs one command line and answers its exit code: 0 done, 1 not possible (PostgreSQL does not answer, a migration cannot
 * be carried out) or, of `migrate --check`, something is due; 2 the command line or the configuration is wrong.
 */
export async function runApi({
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
      return exitCodes.done;
    }
    const { command, values } = read;
    const postgresUrl = await findPostgresUrl({ values, env, note });
    return await command.run({ postgresUrl, values, json: values["json"] === true, print, note });
  } catch (error) {
    note(error instanceof Error ? error.message : String(error));
    if (error instanceof CommandError) return error.exitCode;
    return error instanceof ConfigError ? exitCodes.unusable : exitCodes.failed;
  }
}
