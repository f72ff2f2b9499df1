import type { Context } from "./context.ts";

/** One option: without `value` it is a switch, with it the word that stands for its value in the help. */
export type OptionTable = Readonly<Record<string, { value?: string; text: string; required?: boolean }>>;

export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export type CommandInput = Omit<Context, "close"> & {
  values: Values;
  positionals: readonly string[];
  /** To stdout: what was asked for. */
  print: (text: string) => void;
  /** To stderr: what is said beside it. */
  note: (text: string) => void;
};

/** A command of `npm run keys`; `name` is one word or two. */
export type KeysCommand = {
  name: string;
  positionals: readonly string[];
  summary: string;
  /** More lines for its `--help`. */
  details: readonly string[];
  options: OptionTable;
  /** Command lines without the invocation. */
  examples: readonly string[];
  run: (input: CommandInput) => Promise<void>;
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
