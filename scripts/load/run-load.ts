import { writeFileSync } from "node:fs";
import type { EndedBy, EndSignal } from "./fleet.ts";
import { GatewayError } from "./http/ask-gateway.ts";
import { type LoadOutput, measure } from "./measure.ts";
import type { LoadOptions } from "./options.ts";
import { InputError, readInputs } from "./read-inputs.ts";
import { htmlReport } from "./report/html-report.ts";
import { junitReport } from "./report/junit.ts";
import type { Report } from "./report/report.ts";
import { textReport } from "./report/text-report.ts";

/**
 * 0 thresholds kept, 99 one missed (as k6 has it), 2 nothing was measured, 1 a process of it was lost, 128 + the signal's
 * number if a signal ended it early.
 */
export type ExitCode = 0 | 1 | 2 | 99 | 130 | 143;

const earlyCodes: Readonly<Record<EndedBy, ExitCode>> = {
  SIGINT: 130,
  SIGTERM: 143,
  threshold: 99,
  "lost process": 1,
};

/**
 * One run from options to exit code. It ends early when `ended` resolves: requests in flight may still be answered for a
 * moment, and then the report is made from the measurements so far.
 */
export async function runLoad({
  options,
  env,
  output,
  ended,
}: {
  options: LoadOptions;
  env: Readonly<Record<string, string | undefined>>;
  output: LoadOutput;
  ended: Promise<EndSignal>;
}): Promise<ExitCode> {
  try {
    const measured = await measure({ options, inputs: readInputs(options, env), output, ended });
    if ("endedBefore" in measured) {
      output.note("Ended before the first script was begun: nothing was measured.\n");
      return earlyCodes[measured.endedBefore];
    }
    writeReports({ report: measured.report, options, output });
    const { endedBy, passed } = measured.report;
    if (endedBy !== null) return earlyCodes[endedBy];
    return passed ? 0 : 99;
  } catch (error) {
    if (!(error instanceof InputError || error instanceof GatewayError)) throw error;
    output.note(`${error.message}\n`);
    return 2;
  }
}

function writeReports({
  report,
  options: { jsonFile, htmlFile, junitFile },
  output: { print, note },
}: {
  report: Report;
  options: LoadOptions;
  output: LoadOutput;
}): void {
  const json = `${JSON.stringify(report, null, 2)}\n`;
  if (jsonFile === "-") {
    note(textReport(report));
    print(json);
  } else {
    print(textReport(report));
    if (jsonFile !== undefined) write(jsonFile, json);
  }
  if (htmlFile !== undefined) write(htmlFile, htmlReport(report));
  if (junitFile !== undefined) write(junitFile, junitReport(report));
}

/** @throws InputError, since its folder was found good before the run. */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InputError(`${file} cannot be written: ${reason}`);
  }
}
