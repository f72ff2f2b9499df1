import type { CommandDescription, OptionTable, Values } from "../lib/cli/command.ts";

export type CommandInput = {
  values: Values;
  positionals: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  now: () => Date;
  /** To stdout: what was asked for. */
  print: (text: string) => void;
  /** To stderr: what is said beside it. */
  note: (text: string) => void;
};

/** A command of `npm run genesis`; answers the exit code. */
export type GenesisCommand = CommandDescription & { run: (input: CommandInput) => Promise<0 | 1 | 2> };

export const commonOptions: OptionTable = {
  json: { text: "the answer as JSON on stdout" },
  help: { text: "this text" },
};
