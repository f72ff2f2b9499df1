import { writeFileSync } from "node:fs";
import { WrongAnswerError } from "./check-answers.ts";
import { type BenchOptions, readOptions } from "./options.ts";
import { printResult } from "./print-result.ts";
import { MissingProgramsError } from "./programs.ts";
import { type BenchResult, runBench } from "./run-bench.ts";

/** `npm run bench -- gateway`: arguments, signals, exit code. */

const exitUnusable = 2;
const exitInterrupted = 130;

export async function main(args: readonly string[]): Promise<void> {
  const read = readOptions(args);
  if (read.kind === "help") {
    process.stdout.write(read.text);
    return;
  }
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitUnusable;
    return;
  }
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupted.abort());
  const { options } = read;
  try {
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const result = await runBench({ options, env: process.env, say, signal: interrupted.signal });
    write(result, options);
    // Figures mean nothing where answers are wrong.
    if (result.works.some(({ errors, wrong }) => errors + wrong > 0)) process.exitCode = 1;
  } catch (error) {
    process.exitCode = interrupted.signal.aborted ? exitInterrupted : exitCodeOf(error);
  }
}

function write(result: BenchResult, { json }: BenchOptions): void {
  const tables = `\n${printResult(result)}\n`;
  if (json === undefined) process.stdout.write(tables);
  else if (json === "-") {
    process.stderr.write(tables);
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } else {
    process.stdout.write(tables);
    writeFileSync(json, `${JSON.stringify(result, undefined, 2)}\n`);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof MissingProgramsError) {
    process.stderr.write(`The bench cannot run:\n  ${error.problems.join("\n  ")}\n`);
    return exitUnusable;
  }
  if (!(error instanceof WrongAnswerError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return 1;
}
