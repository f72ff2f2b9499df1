import { CommandError, type Program } from "../../lib/cli/command.ts";
import { readCommandLine } from "../../lib/cli/read-command-line.ts";
import { attestCommand } from "./attest.ts";
import { auditCommand } from "./audit.ts";
import type { CommandInput, ReleaseCommand } from "./command.ts";
import { licencesCommand } from "./licences.ts";
import { lockCommand } from "./lock.ts";
import { secretsCommand } from "./secrets.ts";
import { versionCommand } from "./version.ts";
import { walletProxyCommand } from "./wallet-proxy.ts";

const program: Program<ReleaseCommand> = {
  invocation: "npm run release --",
  commonOptions: {},
  commands: [
    versionCommand,
    lockCommand,
    walletProxyCommand,
    secretsCommand,
    licencesCommand,
    auditCommand,
    attestCommand,
  ],
};

/**
 * Runs one command line and returns its exit code: 0 done, 1 not possible or something was found, 2 the command line is
 * wrong. `print` is for the result, `note` for everything else.
 */
export async function runRelease({
  args,
  ...input
}: Omit<CommandInput, "values" | "positionals"> & { args: readonly string[] }): Promise<0 | 1 | 2> {
  try {
    const read = readCommandLine(program, args);
    if (read.kind === "help") input.print(read.text);
    else await read.command.run({ ...input, values: read.values, positionals: read.positionals });
    return 0;
  } catch (error) {
    input.note(error instanceof Error ? error.message : String(error));
    return error instanceof CommandError ? error.exitCode : 1;
  }
}
