import { ZodError } from "zod";
import { ConfigError } from "../../lib/read-config.ts";
import { CommandError, type KeysCommand } from "./command.ts";
import { openContext } from "./context.ts";
import { createCommand } from "./create.ts";
import { help, overview } from "./help-text.ts";
import { listCommand } from "./list.ts";
import { didYouMean, nearest } from "./nearest.ts";
import { readArguments } from "./read-arguments.ts";
import { revokeCommand } from "./revoke.ts";
import { rotateCommand } from "./rotate.ts";
import { showCommand } from "./show.ts";
import { teamListCommand, teamSetCommand, teamShowCommand } from "./team.ts";

const commands: readonly KeysCommand[] = [
  createCommand,
  listCommand,
  showCommand,
  rotateCommand,
  revokeCommand,
  teamSetCommand,
  teamListCommand,
  teamShowCommand,
];

type Environment = Readonly<Record<string, string | undefined>>;
type Output = { print: (text: string) => void; note: (text: string) => void };

/**
 * Runs one command line and answers its exit code: 0 done, 1 not possible (unknown id, Redis does not answer), 2 the
 * command line is wrong. `print` is for what was asked for, `note` for everything that is said beside it.
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
  const [first, second] = args;
  if (first === undefined) throw new CommandError(overview(commands), { exitCode: 2 });
  if (isHelp(first)) return print(overview(commands));
  const { command, rest } = findCommand(args);
  if (command === undefined && isHelp(second)) return print(overview(startingWith(first)));
  if (command === undefined) throw unknownCommand(first);
  const { values, positionals } = readArguments(command, rest);
  if (values["help"] === true) return print(help(command));
  const context = await openContext({ values, env, note });
  try {
    await command.run({ ...context, values, positionals, print, note });
  } finally {
    context.close();
  }
}

function findCommand(args: readonly string[]): { command: KeysCommand | undefined; rest: readonly string[] } {
  const name = startingWith(args[0] ?? "").length > 0 ? args.slice(0, 2).join(" ") : args[0];
  return {
    command: commands.find((command) => command.name === name),
    rest: args.slice(name?.includes(" ") ? 2 : 1),
  };
}

/** Commands of two words that begin with this one. */
function startingWith(word: string): KeysCommand[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h" || word === "help";
}

function unknownCommand(word: string): CommandError {
  const names = startingWith(word).map(({ name }) => name);
  if (names.length > 0) {
    return new CommandError(`After "${word}" the rest was expected: ${names.join(", ")}.`, { exitCode: 2 });
  }
  const guess = nearest(
    word,
    commands.map(({ name }) => name),
  );
  return new CommandError(`There is no command "${word}".${didYouMean(guess)}\n\n${overview(commands)}`, {
    exitCode: 2,
  });
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
