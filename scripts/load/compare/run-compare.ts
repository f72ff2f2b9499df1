import { writeFileSync } from "node:fs";
import { CommandError, type SingleProgram } from "../../../lib/cli/command.ts";
import { readProgram } from "../../../lib/cli/read-program.ts";
import { readShare } from "../read-values.ts";
import { compareReports, textComparison, worseThan } from "./compare-reports.ts";
import { htmlComparison } from "./html-comparison.ts";
import { readReport } from "./read-report.ts";

export const compareProgram: SingleProgram = {
  invocation: "npm run load -- compare",
  positionals: ["A.json", "B.json"],
  summary: "Compares two runs that --json has written, the older one first: in words, and as a page.",
  options: {
    html: { value: "FILE", text: "the comparison as one page with plots" },
    "max-worse": {
      value: "PERCENT",
      text: "exit code 99 where a figure got worse by more than this, such as 20%",
    },
  },
  details: [
    "A difference of less than a tenth or a millisecond is called about the same: two runs of one gateway differ by that.",
    "Exit codes: 0 compared; 99 --max-worse was passed; 2 a file cannot be used.",
  ],
};

export type CompareOutcome = { exitCode: 0 | 2 | 99; out: string; err: string };

/** `npm run load -- compare A.json B.json`. */
export function runCompare(args: readonly string[]): CompareOutcome {
  const read = readProgram(compareProgram, args, ({ positionals, text, read: value }) => ({
    files: positionals,
    htmlFile: text("html"),
    maxWorse: value("max-worse", readShare),
  }));
  if (read.kind === "help") return { exitCode: 0, out: read.text, err: "" };
  if (read.kind === "unusable") return { exitCode: 2, out: "", err: `${read.text}\n` };
  const { files, htmlFile, maxWorse } = read.options;
  const names = { a: files[0] ?? "", b: files[1] ?? "" };
  try {
    const [a, b] = [readReport(names.a), readReport(names.b)];
    const comparison = compareReports(a, b);
    if (htmlFile !== undefined) write(htmlFile, htmlComparison({ a, b, comparison, names }));
    const out = textComparison(comparison, names);
    const tooMuch = maxWorse === undefined ? [] : worseThan(comparison, maxWorse);
    if (tooMuch.length === 0) return { exitCode: 0, out, err: "" };
    const which = tooMuch.map(({ what, figure }) => `${what}, ${figure}`).join("; ");
    return { exitCode: 99, out, err: `Worse by more than --max-worse: ${which}\n` };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { exitCode: 2, out: "", err: `${error.message}\n` };
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`${file} cannot be written: ${reason}`, { exitCode: 2 });
  }
}
