import { parseArgs } from "node:util";
import { type ContestantName, contestantNames } from "./contestant.ts";
import { type WorkName, workNames } from "./workloads.ts";

export type BenchOptions = {
  only: readonly ContestantName[];
  works: readonly BenchWork[];
  rounds: number;
  seconds: number;
  /** A file, `-` for standard output, or nothing. */
  json: string | undefined;
};

/** The works, and how much latency is added at half load. */
export const benchWorks = [...workNames, "latency"] as const;
export type BenchWork = WorkName | "latency";

export type ReadOptions =
  | { kind: "run"; options: BenchOptions }
  | { kind: "help"; text: string }
  | { kind: "unusable"; text: string };

const usage = `Usage: npm run bench -- [gateway] [--only NAMES] [--work NAMES] [--rounds N] [--seconds N] [--quick] [--json FILE|-]

The gateway and others in front of five stub validators: the same work in turns, after a check that each does it rightly.

  --only NAMES   of ${contestantNames.join(", ")} (default: all)
  --work NAMES   of ${benchWorks.join(", ")} (default: all)
  --rounds N     how often each has its turn at each work (default: 4)
  --seconds N    how long a turn takes (default: 2)
  --quick        two rounds of one second
  --json FILE    every measurement, for machines; - is standard output, the tables then go to standard error
  --help         this text

Everything takes about five minutes, with --quick about one and a half.
`;

const roundsMax = 100;
const secondsMax = 600;

/** Reads the command line; `unusable` says what was expected. */
export function readOptions(args: readonly string[]): ReadOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: "string", default: contestantNames.join(",") },
        work: { type: "string", default: benchWorks.join(",") },
        rounds: { type: "string" },
        seconds: { type: "string" },
        quick: { type: "boolean", default: false },
        json: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help", text: usage };
    const { only, work, rounds, seconds, quick, json } = values;
    const options: BenchOptions = {
      only: readNames("--only", only, contestantNames),
      works: readNames("--work", work, benchWorks),
      rounds: readNumber("--rounds", rounds ?? (quick ? "2" : "4"), roundsMax),
      seconds: readNumber("--seconds", seconds ?? (quick ? "1" : "2"), secondsMax),
      json,
    };
    return { kind: "run", options };
  } catch (error) {
    return { kind: "unusable", text: `${error instanceof Error ? error.message : error}\n\n${usage}` };
  }
}

/** In the order of `known`, whatever the order on the command line. */
function readNames<Name extends string>(option: string, text: string, known: readonly Name[]): Name[] {
  const wanted = text.split(",").map((name) => name.trim());
  const unknown = wanted.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined) {
    throw new Error(`${option}: names out of ${known.join(", ")} were expected, not "${unknown}"`);
  }
  return known.filter((name) => wanted.includes(name));
}

function readNumber(option: string, text: string, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > max) {
    throw new Error(`${option}: a whole number from 1 to ${max} was expected, not "${text}"`);
  }
  return number;
}
