import { parseArgs } from "node:util";
import { type CommandDescription, CommandError, type OptionTable, type Program } from "./command.ts";
import { didYouMean, nearest } from "./nearest.ts";

/** Reads the words behind a command's name. Throws a CommandError that says what was expected. */
export function readArguments<Command extends CommandDescription>(
  { invocation, commonOptions }: Program<Command>,
  command: Command,
  args: readonly string[],
) {
  const { values, positionals, problem } = scanArguments({
    options: { ...command.options, ...commonOptions },
    positionals: command.positionals,
    args,
    repeated: "refused",
  });
  if (problem !== undefined) {
    throw new CommandError(`${problem}\nSee: ${invocation} ${command.name} --help`, { exitCode: 2 });
  }
  return { values, positionals };
}

type Scanned = Pick<ReturnType<typeof parse>, "values" | "positionals"> & {
  /** What is wrong with the words, as a sentence; undefined also where they ask for help. */
  problem: string | undefined;
};

/** The values of options, the words that are none, and what is wrong with them. `help` is always an option. */
export function scanArguments({
  options,
  positionals: expected,
  args,
  repeated,
}: {
  options: OptionTable;
  positionals: readonly string[];
  args: readonly string[];
  /** What an option means that is given again: commands that change something take no chance. */
  repeated: "last counts" | "refused";
}): Scanned {
  const table: OptionTable = { ...options, help: { text: "" } };
  const parsed = parse(table, args);
  const { values, positionals } = parsed;
  const problem =
    values["help"] === true
      ? undefined
      : (wrongOption(table, parsed, repeated) ??
        missingOption(options, values) ??
        wrongWords(expected, positionals));
  return { values, positionals, problem };
}

function parse(options: OptionTable, args: readonly string[]) {
  // Not strict, because parseArgs's own words for a wrong option neither suggest nor name what was expected.
  return parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value, multiple = false }]) => [
        name,
        name === "help"
          ? { type: "boolean" as const, short: "h" }
          : { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
}

function wrongOption(
  options: OptionTable,
  { tokens }: ReturnType<typeof parse>,
  repeated: "last counts" | "refused",
): string | undefined {
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) {
      return `There is no option ${rawName}.${didYouMean(nearest(name, Object.keys(options)), "--")}`;
    }
    if (option.value === undefined && value !== undefined) return `${rawName} takes no value.`;
    if (option.value !== undefined && (value === undefined || value === "")) {
      return `${rawName} needs a value: ${option.value}, ${option.text}.`;
    }
    if (seen.has(name) && option.multiple !== true && repeated === "refused")
      return `${rawName} was given more than once.`;
    seen.add(name);
  }
  return undefined;
}

function missingOption(options: OptionTable, values: ReturnType<typeof parse>["values"]): string | undefined {
  const missing = Object.entries(options).find(
    ([name, { required }]) => required && values[name] === undefined,
  );
  if (missing === undefined) return undefined;
  const [name, { value = "", text }] = missing;
  return `--${name} is missing: ${value}, ${text}.`;
}

function wrongWords(expected: readonly string[], words: readonly string[]): string | undefined {
  const missing = expected.slice(words.length).filter((word) => !word.startsWith("["));
  if (missing.length > 0) return `${missing.join(" and ")} is missing.`;
  return words.length > expected.length && !isVariadic(expected.at(-1))
    ? `"${words[expected.length]}" is one word too many (words with spaces need quotes).`
    : undefined;
}

/** `PATH…` and `[PATH…]` stand for any number of words. */
function isVariadic(word = ""): boolean {
  return word.endsWith("…") || word.endsWith("…]");
}
