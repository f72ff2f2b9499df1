import type { NetworkConfig } from "../../genesis/config.ts";
import type { Manifest } from "../../genesis/manifest.ts";
import type { CommandDescription, OptionTable, Values } from "../../lib/cli/command.ts";
import type { Nodes } from "./nodes.ts";
import type { ProgressView } from "./output/progress-view.ts";

export type CommandInput = {
  values: Values;
  positionals: readonly string[];
  nodes: Nodes;
  manifest: Manifest;
  /** The network's. */
  folder: string;
  config: NetworkConfig;
  /** The same network, read again: after its files were changed. */
  reopen: () => Promise<Pick<CommandInput, "nodes" | "manifest">>;
  json: boolean;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Unix milliseconds. */
  now: () => number;
  /** Writes the result to stdout. */
  print: (text: string) => void;
  /** Writes progress and notes to stderr. */
  note: (text: string) => void;
  progress: ProgressView;
};

/** 0 done or fine; 1 not possible, or stalled; 2 the command line is wrong, or at the edge of quorum; 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 130;

/** A command of `npm run network`. */
export type NetworkCommand = CommandDescription & { run: (input: CommandInput) => Promise<ExitCode> };

export const commonOptions: OptionTable = {
  native: { text: "the validators as processes of this machine, from the Besu that BESU_HOME names" },
  at: {
    value: "URL",
    text: "the validators where something else runs them, such as Kubernetes: their JSON-RPC, N for the number (http://127.0.0.1:250N)",
  },
  folder: { value: "FOLDER", text: "the network's folder (else `folder` of the configuration)" },
  config: { value: "FILE", text: "the network's configuration (else config/network.yaml)" },
  json: { text: "the answer as JSON on stdout" },
  help: { text: "this text" },
};
