import { parseArgs } from "node:util";
import { type CommandDescription, CommandError, type OptionTable, type Program } from "./command.ts";
import { didYouMean, nearest } from "./nearest.ts";

/** Reads the words behind a command's name. Throws a CommandError that says what was expected. */
export function readArguments<Command extends CommandDescription>(
  { invocation, commonOptions }: Program<Command>,
  command: Command,
  args: readonly string[],
) {
  const options: OptionTable = { ...command.options, ...commonOptions };
  const names = Object.keys(options);
  // Not strict, because parseArgs's own words for a wrong option neither suggest nor name what was expected.
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [
        name,
        name === "help"
          ? { type: "boolean" as const, short: "h" }
          : { type: value === undefined ? ("boolean" as const) : ("string" as const) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const wrong = (text: string) =>
    new CommandError(`${text}\nSee: ${invocation} ${command.name} --help`, { exitCode: 2 });
  if (values["help"] === true) return { values, positionals };
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = options[token.name];
    if (option === undefined) {
      throw wrong(`There is no option ${token.rawName}.${didYouMean(nearest(token.name, names), "--")}`);
    }
    if (option.value === undefined && token.value !== undefined)
      throw wrong(`${token.rawName} takes no value.`);
    if (option.value !== undefined && (token.value === undefined || token.value === "")) {
      throw wrong(`${token.rawName} needs a value: ${option.value}, ${option.text}.`);
    }
    if (tokens.some((other) => other.kind === "option" && other !== token && other.name === token.name)) {
      throw wrong(`${token.rawName} was given more than once.`);
    }
  }
  for (const [name, option] of Object.entries(options)) {
    if (option.required && values[name] === undefined) {
      throw wrong(`--${name} is missing: ${option.value ?? ""}, ${option.text}.`);
    }
  }
  const expected = command.positionals;
  const missing = expected.slice(positionals.length).filter((word) => !word.startsWith("["));
  if (missing.length > 0) throw wrong(`${missing.join(" and ")} is missing.`);
  if (positionals.length > expected.length) {
    throw wrong(`"${positionals[expected.length]}" is one word too many (words with spaces need quotes).`);
  }
  return { values, positionals };
}
