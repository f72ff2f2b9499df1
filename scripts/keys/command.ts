import type { CommandDescription, Values } from "../../lib/cli/command.ts";
import type { Context } from "./context.ts";

export type CommandInput = Omit<Context, "close"> & {
  values: Values;
  positionals: readonly string[];
  /** To stdout: the result. */
  print: (text: string) => void;
  /** To stderr: everything else. */
  note: (text: string) => void;
};

/** A command of `npm run keys`. */
export type KeysCommand = CommandDescription & { run: (input: CommandInput) => Promise<void> };
