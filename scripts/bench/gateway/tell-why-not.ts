import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { WrongAnswerError } from "./check-answers.ts";
import { MissingProgramsError } from "./programs.ts";

/** Tells why a bench ended without figures. @returns the exit code. @throws `error` where it is none of those known. */
export function tellWhyNot(error: unknown, interrupted: AbortSignal): number {
  if (interrupted.aborted) return exitCodes.interrupted;
  if (error instanceof MissingProgramsError) {
    process.stderr.write(`The bench cannot run:\n  ${error.problems.join("\n  ")}\n`);
    return exitCodes.unusable;
  }
  if (!(error instanceof WrongAnswerError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return exitCodes.failed;
}
