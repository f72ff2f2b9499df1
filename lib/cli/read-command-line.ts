import { type CommandDescription, CommandError, type Program, type Values } from "./command.ts";
import { help, overview } from "./help-text.ts";
import { didYouMean, nearest } from "./nearest.ts";
import { readArguments } from "./read-arguments.ts";

export type ReadCommandLine<Command> =
  | { kind: "help"; text: string }
  | { kind: "run"; command: Command; values: Values; positionals: readonly string[] };

/** Which command a command line means, with its options. Throws a CommandError that says what was expected. */
export function readCommandLine<Command extends CommandDescription>(
  program: Program<Command>,
  args: readonly string[],
): ReadCommandLine<Command> {
  const [first, second] = args;
  if (first === undefined) throw new CommandError(overview(program), { exitCode: 2 });
  if (isHelp(first)) return { kind: "help", text: overview(program) };
  // A name of two words is known by its first one.
  const family = startingWith(program, first);
  const name = family.length > 0 ? args.slice(0, 2).join(" ") : first;
  const command = program.commands.find((candidate) => candidate.name === name);
  if (command === undefined) {
    if (family.length > 0 && isHelp(second)) return { kind: "help", text: overview(program, family) };
    throw unknownCommand(program, first, family);
  }
  const rest = args.slice(name.split(" ").length);
  const { values, positionals } = readArguments(program, command, rest);
  if (values["help"] === true) return { kind: "help", text: help(program, command) };
  return { kind: "run", command, values, positionals };
}

function startingWith<Command extends CommandDescription>(
  { commands }: Program<Command>,
  word: string,
): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h" || word === "help";
}

function unknownCommand<Command extends CommandDescription>(
  program: Program<Command>,
  word: string,
  family: readonly Command[],
): CommandError {
  if (family.length > 0) {
    const names = family.map(({ name }) => name).join(", ");
    return new CommandError(`After "${word}" the rest was expected: ${names}.`, { exitCode: 2 });
  }
  const guess = nearest(
    word,
    program.commands.map(({ name }) => name),
  );
  return new CommandError(`There is no command "${word}".${didYouMean(guess)}\n\n${overview(program)}`, {
    exitCode: 2,
  });
}
