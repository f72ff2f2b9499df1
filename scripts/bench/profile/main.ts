import { writeFileSync } from "node:fs";
import type { SingleProgram } from "../../../lib/cli/command.ts";
import { type Read, type ReadProgram, readProgram } from "../../../lib/cli/read-program.ts";
import { wholeNumber } from "../../../lib/cli/values.ts";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { abortOnStopSignal } from "../../../lib/service/stop-signals.ts";
import { tellWhyNot } from "../gateway/tell-why-not.ts";
import { type Workload, workloads } from "../gateway/workloads.ts";
import { printProfile } from "./print-profile.ts";
import { runProfile } from "./run-profile.ts";

/** `npm run bench -- profile`: arguments, signals, exit code. */

const secondsMax = 60;

type ProfileOptions = { work: Workload; seconds: number; out: string | undefined };

const program: SingleProgram = {
  invocation: "npm run bench -- profile",
  summary: "Where the gateway's time goes under load, by module and by function.",
  options: {
    work: {
      value: "NAME",
      text: `one of ${workloads.map(({ name }) => name).join(", ")}`,
      default: "unique",
    },
    seconds: { value: "N", text: "how long it is watched", default: "5" },
    out: {
      value: "FILE",
      text: "the profile, for Chrome's developer tools (end its name in .cpuprofile)",
    },
  },
};

export async function main(args: readonly string[]): Promise<void> {
  const read = readOptions(args);
  if (read.kind === "help") process.stdout.write(read.text);
  else if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
  } else await run(read.options);
}

async function run({ work, seconds, out }: ProfileOptions): Promise<void> {
  const interrupted = abortOnStopSignal();
  try {
    const result = await runProfile({ work, seconds, env: process.env, signal: interrupted });
    process.stdout.write(`${printProfile(result)}\n`);
    if (out !== undefined) writeFileSync(out, result.cpuProfile);
  } catch (error) {
    process.exitCode = tellWhyNot(error, interrupted);
  }
}

function readOptions(args: readonly string[]): ReadProgram<ProfileOptions> {
  return readProgram(program, args, ({ need, text }) => ({
    work: need("work", readWork),
    seconds: need("seconds", wholeNumber(secondsMax)),
    out: text("out"),
  }));
}

function readWork(text: string): Read<Workload> {
  const value = workloads.find(({ name }) => name === text);
  return value === undefined ? { wrong: `there is no work "${text}"` } : { value };
}
