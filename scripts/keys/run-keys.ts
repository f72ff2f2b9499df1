import { ZodError } from "zod";
import { CommandError, type Program } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import type { KeysCommand } from "./command.ts";
import { confirmCommand } from "./confirm.ts";
import { commonOptions, openContext } from "./context.ts";
import { createCommand } from "./create.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { listCommand } from "./list.ts";
import { revokeCommand } from "./revoke.ts";
import { rotateCommand } from "./rotate.ts";
import { serviceCommand } from "./service.ts";
import { showCommand } from "./show.ts";
import { teamListCommand, teamSetCommand, teamShowCommand } from "./team.ts";

const program: Program<KeysCommand> = {
  invocation: "npm run keys --",
  commonOptions,
  commands: [
    createCommand,
    listCommand,
    showCommand,
    rotateCommand,
    revokeCommand,
    teamSetCommand,
    teamListCommand,
    teamShowCommand,
    exportCommand,
    importCommand,
    confirmCommand,
    serviceCommand,
  ],
};

type Environment = Readonly<Record<string, string | undefined>>;
type Output = { print: (text: string) => void; note: (text: string) => void };

/**
 * Runs one command line and returns its exit code: 0 done, 1 not possible (unknown id, Redis does not answer), 2 the
 * command line is wrong. `print` is for the result, `note` for everything else.
 */
export async function runKeys({
  args,
  env,
  print,
  note,
}: Output & { args: readonly string[]; env: Environment }): Promise<0 | 1 | 2> {
  try {
    await dispatch({ args, env, print, note });
    return 0;
  } catch (error) {
    const { message, exitCode } = explain(error);
    note(message);
    return exitCode;
  }
}

async function dispatch({
  args,
  env,
  print,
  note,
}: Output & { args: readonly string[]; env: Environment }): Promise<void> {
  const read = readCommandLine(program, args);
  if (read.kind === "help") return print(read.text);
  const { command, values, positionals } = read;
  const context = await openContext({ values, env, note });
  try {
    await noteLostKeys({ command, store: context.store, note });
    await command.run({ ...context, values, positionals, print, note });
  } finally {
    context.close();
  }
}

/** Warns an operator who makes or lists keys in a Redis that has lost others. */
async function noteLostKeys({
  command,
  store,
  note,
}: Pick<Output, "note"> & { command: KeysCommand; store: KeyStore }): Promise<void> {
  if (command === importCommand || command === confirmCommand) return;
  const { missing } = await store.history();
  if (missing === undefined) return;
  if (missing.keys === 0) {
    note(
      "This Redis was restored from a backup: keys that were revoked since are good again once you confirm. Revoke those first, then: confirm",
    );
    return;
  }
  note(
    `This Redis has lost keys: gateways knew of ${missing.keys}. Bring them back with import, or say that what is here is meant with confirm.`,
  );
}

/** Where the settings of a key or team stand on the command line. */
const placeOfSetting: Readonly<Record<string, string>> = {
  name: "NAME",
  limitPerMinute: "--limit",
  capPerMinute: "--cap",
};

function explain(error: unknown): { message: string; exitCode: 1 | 2 } {
  if (error instanceof CommandError) return error;
  if (error instanceof ConfigError) {
    return {
      message: `The gateway's configuration cannot be used:\n  ${error.problems.join("\n  ")}`,
      exitCode: 2,
    };
  }
  if (error instanceof ZodError) {
    const lines = error.issues.map(({ path: [setting], message }) => {
      return `${placeOfSetting[String(setting)] ?? `--${String(setting)}`}: ${message}`;
    });
    return { message: lines.join("\n"), exitCode: 2 };
  }
  return { message: error instanceof Error ? error.message : String(error), exitCode: 1 };
}
