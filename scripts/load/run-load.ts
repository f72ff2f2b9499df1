import { writeFileSync } from "node:fs";
import { GatewayError } from "./http/ask-gateway.ts";
import { type EndSignal, type LoadOutput, measure } from "./measure.ts";
import type { LoadOptions } from "./options.ts";
import { InputError, readInputs } from "./read-inputs.ts";
import { htmlReport } from "./report/html-report.ts";
import type { Report } from "./report/report.ts";
import { textReport } from "./report/text-report.ts";

/** 0 thresholds kept, 1 one missed, 2 nothing was measured, 128 + the signal's number if a signal ended it early. */
export type ExitCode = 0 | 1 | 2 | 130 | 143;

const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const;

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
      return signalCodes[measured.endedBefore];
    }
    writeReports({ report: measured.report, options, output });
    const { endedBy, passed } = measured.report;
    return endedBy === null ? (passed ? 0 : 1) : signalCodes[endedBy];
  } catch (error) {
    if (!(error instanceof InputError || error instanceof GatewayError)) throw error;
    output.note(`${error.message}\n`);
    return 2;
  }
}

function writeReports({
  report,
  options: { jsonFile, htmlFile },
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
