import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { MissingProgramsError } from "../gateway/programs.ts";
import { type Work, works } from "../gateway/workloads.ts";
import { printProfile } from "./print-profile.ts";
import { runProfile } from "./run-profile.ts";

/** `npm run bench -- profile`: arguments, signals, exit code. */

const usage = `Usage: npm run bench -- profile [--work NAME] [--seconds N] [--out FILE]

Where the gateway's time goes under load, by room of the code and by function.

  --work NAME   one of ${works.map(({ name }) => name).join(", ")} (default: unique)
  --seconds N   how long it is watched (default: 5)
  --out FILE    the profile, for Chrome's developer tools (end its name in .cpuprofile)
  --help        this text
`;

const exitUnusable = 2;
const exitInterrupted = 130;
const secondsMax = 60;

type ProfileOptions = { work: Work; seconds: number; out: string | undefined };

export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options === "help") process.stdout.write(usage);
  else if (typeof options === "string") {
    process.stderr.write(`${options}\n\n${usage}`);
    process.exitCode = exitUnusable;
  } else await run(options);
}

async function run({ work, seconds, out }: ProfileOptions): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupted.abort());
  try {
    const result = await runProfile({ work, seconds, env: process.env, signal: interrupted.signal });
    process.stdout.write(`${printProfile(result)}\n`);
    if (out !== undefined) writeFileSync(out, result.cpuProfile);
  } catch (error) {
    if (interrupted.signal.aborted) process.exitCode = exitInterrupted;
    else if (error instanceof MissingProgramsError) {
      process.stderr.write(`The bench cannot run:\n  ${error.problems.join("\n  ")}\n`);
      process.exitCode = exitUnusable;
    } else throw error;
  }
}

/** What is to be done; `help`; or what was expected, in words. */
function readOptions(args: readonly string[]): ProfileOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        work: { type: "string", default: "unique" },
        seconds: { type: "string", default: "5" },
        out: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return "help";
    const work = works.find(({ name }) => name === values.work);
    const seconds = Number(values.seconds);
    if (work === undefined) return `--work: there is no work "${values.work}"`;
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > secondsMax) {
      return `--seconds: a whole number from 1 to ${secondsMax} was expected, not "${values.seconds}"`;
    }
    return { work, seconds, out: values.out };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
