import type { CommandDescription, Values } from "../../lib/cli/command.ts";

export type ExitCode = 0 | 1 | 2;

export type CommandInput = {
  values: Values;
  positionals: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** To stdout: what was asked for. */
  print: (text: string) => void;
  /** To stderr: what is said beside it. */
  note: (text: string) => void;
};

/** A command of `npm run contracts`; it answers the exit code. */
export type ContractsCommand = CommandDescription & { run: (input: CommandInput) => Promise<ExitCode> };
