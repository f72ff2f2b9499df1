import type { SingleProgram } from "../../../lib/cli/command.ts";
import { type ReadProgram, readProgram } from "../../../lib/cli/read-program.ts";
import { namesOutOf, wholeNumber } from "../../../lib/cli/values.ts";
import { type WorkloadName, workloadNames } from "../gateway/workloads.ts";

export type WorkersOptions = {
  /** How many workers each gateway has that is measured, in the order of their turns. */
  counts: readonly number[];
  workloads: readonly WorkloadName[];
  rounds: number;
  seconds: number;
  json: string | undefined;
};

const workersMax = 64;
const roundsMax = 100;
const secondsMax = 600;

const program: SingleProgram = {
  invocation: "npm run bench -- workers",
  summary:
    "The gateway with one worker, with two, and with as many as wanted, at the same work in turns, after a check that each answers rightly.",
  options: {
    workers: { value: "N", text: "measures as many too", default: "2" },
    work: { value: "NAMES", text: `of ${workloadNames.join(", ")}`, default: "unique,mix" },
    rounds: { value: "N", text: "how often each has its turn at each work", default: "5" },
    seconds: { value: "N", text: "how long a turn takes", default: "2" },
    json: { value: "FILE", text: "every figure, for machines" },
  },
  details: [
    "Where the machine has a core for each worker and as many for the load, calls a second are judged: two workers have to give 1.8 times what one gives.",
    "Where it has not, all processes of a gateway share one core, and the CPU time of a call is judged: that much work on two cores would be 1.8 times as many calls.",
    "Ends with 1 where that is missed, or where an answer was wrong.",
  ],
};

/** Reads the command line; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadProgram<WorkersOptions> {
  return readProgram(program, args, ({ need, text }) => ({
    counts: [...new Set([1, 2, need("workers", wholeNumber(workersMax, 2))])],
    workloads: need("work", namesOutOf(workloadNames)),
    rounds: need("rounds", wholeNumber(roundsMax)),
    seconds: need("seconds", wholeNumber(secondsMax)),
    json: text("json"),
  }));
}
