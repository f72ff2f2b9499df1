import type { CommandDescription, Values } from "../../lib/cli/command.ts";

export type CommandInput = {
  postgresUrl: string;
  values: Values;
  json: boolean;
  /** To stdout: what was asked for. */
  print: (text: string) => void;
  /** To stderr: what is said beside it. */
  note: (text: string) => void;
};

/** A command of `npm run api`; it answers the exit code. */
export type ApiCommand = CommandDescription & { run: (input: CommandInput) => Promise<0 | 1> };
