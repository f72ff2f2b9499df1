export type Option = {
  /** The word that stands for the value in the help. Without it the option is a switch. */
  value?: string;
  text: string;
  required?: boolean;
  /** The value where none is given; the help tells it. */
  default?: string;
  /** May be given several times. */
  multiple?: boolean;
};

export type OptionTable = Readonly<Record<string, Option>>;

export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** What the command line and the help need to know of a command; `name` is one word or two. */
export type CommandDescription = {
  name: string;
  /** Words behind the name, as in `SingleProgram`. */
  positionals: readonly string[];
  summary: string;
  /** More lines for its `--help`. */
  details: readonly string[];
  options: OptionTable;
  /** Command lines without the invocation. */
  examples: readonly string[];
};

/** A program of several commands. */
export type Program<Command extends CommandDescription> = {
  /** What one types before a command's name: `npm run keys --`. */
  invocation: string;
  commands: readonly Command[];
  /** What every command takes; `help` is always among them. */
  commonOptions: OptionTable;
};

/** A program of one command. */
export type SingleProgram = {
  /** What one types before the options: `npm run gateway --`. */
  invocation: string;
  /** Words that are not options. One in brackets, `[N]`, may be left out; a last `PATH…` or `[PATH…]` takes all that follow. */
  positionals?: readonly string[];
  summary: string;
  options: OptionTable;
  /** More lines for the end of its `--help`. */
  details?: readonly string[];
};

/** Ends the program with a text for the person at the terminal: 2 where the command line is wrong, else 1. */
export class CommandError extends Error {
  readonly exitCode: 1 | 2;
  constructor(message: string, { exitCode }: { exitCode: 1 | 2 }) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** The text of an option that takes a value. */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}
