import type { CommandDescription, Values } from "../../lib/cli/command.ts";
import type { Context } from "./context.ts";

export type CommandInput = Omit<Context, "close"> & {
  values: Values;
  positionals: readonly string[];
  /** To stdout: what was asked for. */
  print: (text: string) => void;
  /** To stderr: what is said beside it. */
  note: (text: string) => void;
};

/** A command of `npm run faucet`. */
export type FaucetCommand = CommandDescription & { run: (input: CommandInput) => Promise<void> };
