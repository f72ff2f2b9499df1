import { type NetworkConfig, readNetworkConfig } from "../../genesis/config.ts";
import { CommandError, type Program, textOf, type Values } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { ConfigError } from "../../lib/config/read-config.ts";
import { type CommandInput, commonOptions, type ExitCode, type NetworkCommand } from "./command.ts";
import { downCommand } from "./down.ts";
import { insideText, isInside, runInside } from "./inside.ts";
import { logsCommand } from "./logs.ts";
import { openNodes } from "./open-nodes.ts";
import { recoverCommand } from "./recover.ts";
import { rpcCommand } from "./rpc.ts";
import type { RunAttached } from "./run-attached.ts";
import { startCommand } from "./start.ts";
import { statusCommand } from "./status.ts";
import { stopCommand } from "./stop.ts";
import { upCommand } from "./up.ts";
import { upgradeCommand } from "./upgrade/command.ts";
import { addCommand, removeCommand, replaceCommand } from "./validators/commands.ts";
import { listCommand } from "./validators/list.ts";
import { wipeCommand } from "./wipe.ts";

const program: Program<NetworkCommand> = {
  invocation: "npm run network --",
  commonOptions,
  commands: [
    upCommand,
    downCommand,
    statusCommand,
    logsCommand,
    stopCommand,
    startCommand,
    wipeCommand,
    recoverCommand,
    rpcCommand,
    listCommand,
    addCommand,
    removeCommand,
    replaceCommand,
    upgradeCommand,
  ],
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs one command line. @returns its exit code (see ExitCode). */
export async function runNetwork({
  args,
  env,
  attached,
  ...io
}: Pick<CommandInput, "signal" | "now" | "print" | "note" | "progress"> & {
  args: readonly string[];
  env: Environment;
  /** Where forwarded commands run; isTerminal: whether somebody can type. */
  attached?: { run: RunAttached; isTerminal: boolean };
}): Promise<ExitCode> {
  try {
    if (attached !== undefined && isInside(args)) return await runInside({ args, env, ...attached });
    const read = readCommandLine(program, args);
    if (read.kind === "help") {
      io.print(args.length === 1 ? `${read.text}\n\n${insideText}` : read.text);
      return 0;
    }
    const { command, values, positionals } = read;
    return await command.run({ ...io, ...(await openNetwork({ values, env })), values, positionals });
  } catch (error) {
    if (error instanceof ConfigError) {
      io.note(`The network's configuration cannot be used:\n  ${error.problems.join("\n  ")}`);
      return 2;
    }
    io.note(error instanceof Error ? error.message : String(error));
    return error instanceof CommandError ? error.exitCode : 1;
  }
}

async function openNetwork({
  values,
  env,
}: {
  values: Values;
  env: Environment;
}): Promise<Pick<CommandInput, "config" | "manifest" | "folder" | "nodes" | "json" | "reopen">> {
  const config: NetworkConfig = readNetworkConfig({
    file: textOf(values, "config") ?? "config/network.yaml",
    env,
  });
  const folder = textOf(values, "folder") ?? config.folder;
  const at = textOf(values, "at");
  if (at !== undefined && values["native"] === true)
    throw new CommandError(
      "--at and --native do not go together: either one says where the validators are.",
      { exitCode: 2 },
    );
  const native = values["native"] === true;
  const reopen = () => openNodes({ folder, at, native, portBase: config.native.portBase, env });
  return { config, folder, json: values["json"] === true, reopen, ...(await reopen()) };
}
