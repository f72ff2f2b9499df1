import process from "node:process";
import { readProgram } from "../cli/read-program.ts";
import { url } from "../config/schemas.ts";
import { askReload, opsOrigin } from "./ask-reload.ts";
import { exitCodes } from "./exit-codes.ts";

/**
 * `reload` of a service's command line: asks the running process and prints what it answers. Ends with 0, with 2 where the
 * configuration was refused, with 1 where nobody could be asked.
 */
export async function runReload(
  service: { name: string; invocation: string; configFile: string; opsPort: number },
  args: readonly string[],
): Promise<void> {
  const { name, invocation, configFile, opsPort } = service;
  const read = readProgram(
    {
      invocation: `${invocation} reload`,
      summary: `Has the running ${name} read its configuration again: all of it is taken at once, or nothing.`,
      options: {
        config: { value: "FILE", text: "where to find its ops server's address", default: configFile },
        ops: { value: "ADDRESS", text: "its ops server, such as http://127.0.0.1:9540, instead" },
        "dry-run": { text: "checks, tells what would change, changes nothing" },
      },
      details: [
        "The process reads the file that it was started with, with the environment of its start; secrets in files (NAME_FILE)",
        "are read again. What cannot change without a restart is refused by its name.",
      ],
    },
    args,
    (given) => ({
      dryRun: given.has("dry-run"),
      file: given.needText("config"),
      ops: given.read("ops", readAddress),
    }),
  );
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return;
  }
  const { dryRun, file, ops } = read.options;
  const found =
    ops === undefined
      ? opsOrigin({ file, env: process.env, defaultPort: opsPort })
      : { origin: ops, problems: [] };
  const { text, isProblem, exitCode } = await askReload({ name, ops: found.origin, dryRun });
  (isProblem ? process.stderr : process.stdout).write(text);
  if (exitCode === exitCodes.failed && found.problems.length > 0) {
    process.stderr.write(`The file tells no address:\n  ${found.problems.join("\n  ")}\n`);
  }
  process.exitCode = exitCode;
}

function readAddress(text: string) {
  const read = url(["http:"]).safeParse(text);
  return read.success ? { value: read.data } : { expected: "an address such as http://127.0.0.1:9540" };
}
