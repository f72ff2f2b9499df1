import process from "node:process";
import type { OptionTable } from "../cli/command.ts";
import { type Given, readProgram } from "../cli/read-program.ts";
import { url } from "../config/schemas.ts";
import { opsOrigin } from "./ask-reload.ts";
import { exitCodes } from "./exit-codes.ts";

/** A service whose running process a command line asks for something. */
export type AskedService = { name: string; invocation: string; configFile: string; opsPort: number };

/** Who is asked: the origin of its ops server, and why the configuration did not tell it, if it did not. */
type Asked = { origin: string; problems: readonly string[]; given: Given };

/**
 * Reads the options of a command that asks a running process: its ops server is the one that `--ops` names, or the one of the
 * configuration. Undefined where the command line has been dealt with here: help was asked for, or it cannot be used.
 */
export function readAsked(
  { invocation, configFile, opsPort }: AskedService,
  command: { name: string; summary: string; options?: OptionTable; details: readonly string[] },
  args: readonly string[],
): Asked | undefined {
  const read = readProgram(
    {
      ...command,
      invocation: `${invocation} ${command.name}`,
      options: {
        config: { value: "FILE", text: "where to find its ops server's address", default: configFile },
        ops: { value: "ADDRESS", text: "its ops server, such as http://127.0.0.1:9540, instead" },
        ...command.options,
      },
    },
    args,
    (given) => ({ given, file: given.needText("config"), ops: given.read("ops", readAddress) }),
  );
  if (read.kind === "help") {
    process.stdout.write(read.text);
    return undefined;
  }
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return undefined;
  }
  const { given, file, ops } = read.options;
  if (ops !== undefined) return { origin: ops, problems: [], given };
  return { ...opsOrigin({ file, env: process.env, defaultPort: opsPort }), given };
}

/** Where nobody was found to ask, the reason may be that the address is not the configuration's. */
export function tellProblems({ problems }: Asked): void {
  if (problems.length > 0) process.stderr.write(`The file tells no address:\n  ${problems.join("\n  ")}\n`);
}

function readAddress(text: string) {
  const read = url(["http:"]).safeParse(text);
  return read.success ? { value: read.data } : { expected: "an address such as http://127.0.0.1:9540" };
}
