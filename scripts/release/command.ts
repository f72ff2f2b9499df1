import type { CommandDescription, Values } from "../../lib/cli/command.ts";

export type CommandInput = {
  values: Values;
  positionals: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** The repository's folder. */
  root: string;
  now: () => Date;
  /** To stdout: the result. */
  print: (text: string) => void;
  /** To stderr: everything else. */
  note: (text: string) => void;
};

/** A command of `npm run release`. */
export type ReleaseCommand = CommandDescription & { run: (input: CommandInput) => Promise<void> };
