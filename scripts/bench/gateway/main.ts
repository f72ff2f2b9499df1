import { writeFileSync } from "node:fs";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { abortOnStopSignal } from "../../../lib/service/stop-signals.ts";
import { type BenchOptions, readOptions } from "./options.ts";
import { printResult } from "./print-result.ts";
import { type BenchResult, runBench } from "./run-bench.ts";
import { tellWhyNot } from "./tell-why-not.ts";

/** `npm run bench -- gateway`: arguments, signals, exit code. */

export async function main(args: readonly string[]): Promise<void> {
  const read = readOptions(args);
  if (read.kind === "help") {
    process.stdout.write(read.text);
    return;
  }
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return;
  }
  const interrupted = abortOnStopSignal();
  const { options } = read;
  try {
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const result = await runBench({ options, env: process.env, say, signal: interrupted });
    write(result, options);
    // Figures mean nothing where answers are wrong.
    if (result.works.some(({ errors, wrong }) => errors + wrong > 0)) process.exitCode = exitCodes.failed;
  } catch (error) {
    process.exitCode = tellWhyNot(error, interrupted);
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
