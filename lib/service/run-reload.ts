import process from "node:process";
import { askReload } from "./ask-reload.ts";
import { exitCodes } from "./exit-codes.ts";
import { type AskedService, readAsked, tellProblems } from "./read-asked.ts";

/**
 * `reload` of a service's command line: asks the running process and prints what it answers. Ends with 0, with 2 where the
 * configuration was refused, with 1 where nobody could be asked.
 */
export async function runReload(service: AskedService, args: readonly string[]): Promise<void> {
  const { name } = service;
  const asked = readAsked(
    service,
    {
      name: "reload",
      summary: `Has the running ${name} read its configuration again: all of it is taken at once, or nothing.`,
      options: { "dry-run": { text: "checks, tells what would change, changes nothing" } },
      details: [
        "The process reads the file that it was started with, with the environment of its start; secrets in files (NAME_FILE)",
        "are read again. What cannot change without a restart is refused by its name.",
      ],
    },
    args,
  );
  if (asked === undefined) return;
  const dryRun = asked.given.has("dry-run");
  const { text, isProblem, exitCode } = await askReload({ name, ops: asked.origin, dryRun });
  (isProblem ? process.stderr : process.stdout).write(text);
  if (exitCode === exitCodes.failed) tellProblems(asked);
  process.exitCode = exitCode;
}
