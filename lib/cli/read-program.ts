import { CommandError, type OptionTable, type SingleProgram } from "./command.ts";
import { problemText, programHelp } from "./help-text.ts";
import { scanArguments } from "./read-arguments.ts";

/** What a command line means to a program of one command. `unusable` says what was expected. */
export type ReadProgram<Options> =
  | { kind: "run"; options: Options }
  | { kind: "help"; text: string }
  | { kind: "unusable"; text: string };

/**
 * A value of the command line; or what was expected instead of it; or, where the value must not be repeated or the
 * sentence is another, what is wrong.
 */
export type Read<Value> = { value: Value } | { expected: string } | { wrong: string };

/** What the command line gives, as a program asks for it. */
export type Given = {
  has(name: string): boolean;
  /** With the option's default. */
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  /** Read into a value; undefined where the option is not given and has no default. Throws a CommandError. */
  read<Value>(name: string, reader: (text: string) => Read<Value>): Value | undefined;
  /** Of an option that is required or has a default. */
  need<Value>(name: string, reader: (text: string) => Read<Value>): Value;
  needText(name: string): string;
  positionals: readonly string[];
};

/**
 * Reads the command line of a program of one command. Of an option that is given again the last value counts, so that a
 * script can pass defaults before what it was given.
 * `read` may throw a CommandError that says what was expected.
 */
export function readProgram<Options>(
  program: SingleProgram,
  args: readonly string[],
  read: (given: Given) => Options,
): ReadProgram<Options> {
  const { options, positionals: expected = [] } = program;
  const { values, positionals, problem } = scanArguments({
    options,
    positionals: expected,
    args,
    repeated: "last counts",
  });
  if (values["help"] === true) return { kind: "help", text: programHelp(program) };
  if (problem !== undefined) return { kind: "unusable", text: problemText(problem, program) };
  try {
    return { kind: "run", options: read(givenOf({ options, values, positionals })) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { kind: "unusable", text: problemText(error.message, program) };
  }
}

function givenOf({
  options,
  values,
  positionals,
}: {
  options: OptionTable;
  values: ReturnType<typeof scanArguments>["values"];
  positionals: readonly string[];
}): Given {
  const texts = (name: string) => [values[name]].flat().filter((value) => typeof value === "string");
  const text = (name: string) => texts(name).at(-1) ?? options[name]?.default;
  const needText = (name: string) => {
    const given = text(name);
    if (given === undefined) throw new Error(`--${name} is neither required nor has it a default`);
    return given;
  };
  return {
    has: (name) => values[name] !== undefined,
    text,
    texts,
    read(name, reader) {
      const given = text(name);
      return given === undefined ? undefined : readValue(`--${name}`, given, reader);
    },
    need: (name, reader) => readValue(`--${name}`, needText(name), reader),
    needText,
    positionals,
  };
}

/** Reads one value, whose `name` begins the sentence about what was expected. Throws a CommandError. */
export function readValue<Value>(name: string, text: string, reader: (text: string) => Read<Value>): Value {
  const read = reader(text);
  if ("value" in read) return read.value;
  const problem = "wrong" in read ? read.wrong : `${read.expected} was expected, not "${text}"`;
  throw new CommandError(`${name}: ${problem}`, { exitCode: 2 });
}
