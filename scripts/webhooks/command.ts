import type { CommandDescription, Values } from "../../lib/cli/command.ts";

export type CommandInput = {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  /** To stdout: what was asked for. */
  print: (text: string) => void;
  /** To stderr: what is said beside it. */
  note: (text: string) => void;
  /** Aborted when the person at the terminal has enough. */
  stopping: AbortSignal;
};

/** A command of `npm run webhooks`. Throws a CommandError where it cannot go on. */
export type WebhooksCommand = CommandDescription & { run: (input: CommandInput) => Promise<void> };
