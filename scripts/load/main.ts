import { runCompare } from "./compare/run-compare.ts";
import type { EndSignal } from "./fleet.ts";
import { readOptions } from "./options.ts";
import { runLoad } from "./run-load.ts";

/**
 * Ctrl-C in a terminal comes twice: from the terminal, and passed on by npm. A second signal counts as a second Ctrl-C only
 * after this time.
 */
const sameSignalWithinMs = 500;
const exitUnusable = 2;
const exitForced = 130;

const [command, ...rest] = process.argv.slice(2);
const read = readOptions(process.argv.slice(2));
if (command === "compare") {
  const { exitCode, out, err } = runCompare(rest);
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = exitCode;
} else if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") {
  process.stderr.write(`${read.text}\n`);
  process.exitCode = exitUnusable;
} else {
  const ended = new Promise<EndSignal>((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: EndSignal) => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        resolve(signal);
      } else if (performance.now() - firstAt > sameSignalWithinMs) process.exit(exitForced);
    };
    process.on("SIGINT", () => onSignal("SIGINT"));
    process.on("SIGTERM", () => onSignal("SIGTERM"));
  });
  const exitCode = await runLoad({
    options: read.options,
    env: process.env,
    output: {
      print: (text) => process.stdout.write(text),
      note: (text) => process.stderr.write(text),
      isTerminal: process.stderr.isTTY === true,
    },
    ended,
  });
  // Nothing that still holds the event loop is worth a wait, but a pipe has to take the whole report first.
  process.stdout.write("", () => process.exit(exitCode));
}
