import type { SingleProgram } from "../../../lib/cli/command.ts";
import { type ReadProgram, readProgram } from "../../../lib/cli/read-program.ts";
import { namesOutOf, wholeNumber } from "../../../lib/cli/values.ts";
import { type ContestantName, contestantNames } from "./contestant.ts";
import { type WorkloadName, workloadNames } from "./workloads.ts";

export type BenchOptions = {
  only: readonly ContestantName[];
  workloads: readonly BenchWorkload[];
  rounds: number;
  seconds: number;
  /** A file, `-` for standard output, or nothing. */
  json: string | undefined;
};

/** The workloads, and how much latency is added at half load. */
export const benchWorkloads = [...workloadNames, "latency"] as const;
export type BenchWorkload = WorkloadName | "latency";

const roundsMax = 100;
const secondsMax = 600;

const program: SingleProgram = {
  invocation: "npm run bench -- gateway",
  summary:
    "The gateway and others in front of five stub validators: the same workloads in turns, after a check that each answers rightly.",
  options: {
    only: { value: "NAMES", text: `of ${contestantNames.join(", ")} (default: all)` },
    work: { value: "NAMES", text: `of ${benchWorkloads.join(", ")} (default: all)` },
    rounds: { value: "N", text: "how often each has its turn at each workload (default: 4)" },
    seconds: { value: "N", text: "how long a turn takes (default: 2)" },
    quick: { text: "two rounds of one second" },
    json: {
      value: "FILE",
      text: "every measurement, for machines; - is standard output, the tables then go to standard error",
    },
  },
  details: ["Everything takes about five minutes, with --quick about one and a half."],
};

/** Reads the command line; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadProgram<BenchOptions> {
  return readProgram(program, args, ({ has, text, read }) => ({
    only: read("only", namesOutOf(contestantNames)) ?? contestantNames,
    workloads: read("work", namesOutOf(benchWorkloads)) ?? benchWorkloads,
    rounds: read("rounds", wholeNumber(roundsMax)) ?? (has("quick") ? 2 : 4),
    seconds: read("seconds", wholeNumber(secondsMax)) ?? (has("quick") ? 1 : 2),
    json: text("json"),
  }));
}
