import type { CommandDescription, OptionTable, Values } from "../../lib/cli/command.ts";
import type { BackupConfig } from "./config.ts";

export type CommandInput = {
  values: Values;
  positionals: readonly string[];
  config: BackupConfig;
  env: Readonly<Record<string, string | undefined>>;
  json: boolean;
  /** From its first call on Ctrl-C does not end this process, and aborts this. */
  interruption: () => AbortSignal;
  /** Unix milliseconds. */
  now: () => number;
  /** To stdout: the result. */
  print: (text: string) => void;
  /** To stderr: progress, and everything else. */
  note: (text: string) => void;
};

/** A command of `npm run backup`. */
export type BackupCommand = CommandDescription & { run: (input: CommandInput) => Promise<void> };

export const commonOptions: OptionTable = {
  config: { value: "FILE", text: "what is backed up (else config/backup.yaml)" },
  to: { value: "FOLDER", text: "the folder of the backups (else `to` of the configuration)" },
  keys: { value: "FOLDER", text: "the keys of the backups (else `keys` of the configuration)" },
  json: { text: "the answer as JSON on stdout" },
  help: { text: "this text" },
};
