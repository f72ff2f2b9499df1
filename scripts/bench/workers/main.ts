import { writeFileSync } from "node:fs";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { abortOnStopSignal } from "../../../lib/service/stop-signals.ts";
import { tellWhyNot } from "../gateway/tell-why-not.ts";
import { judge } from "./judge.ts";
import { readOptions } from "./options.ts";
import { printWorkers } from "./print-workers.ts";
import { runWorkersBench } from "./run-workers-bench.ts";

/** `npm run bench -- workers`: arguments, signals, exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const read = readOptions(args);
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return;
  }
  const { options } = read;
  const interrupted = abortOnStopSignal();
  try {
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const result = await runWorkersBench({ options, env: process.env, say, signal: interrupted });
    process.stdout.write(`\n${printWorkers(result)}\n`);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
    if (result.rows.some((row) => row.workers > 1 && !judge(row, result.machine).passed)) {
      process.exitCode = exitCodes.failed;
    }
  } catch (error) {
    process.exitCode = tellWhyNot(error, interrupted);
  }
}
