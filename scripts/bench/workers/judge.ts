import { type Spread, spreadOf } from "../gateway/summarize.ts";
import type { WorkloadName } from "../gateway/workloads.ts";

/** One turn of a gateway at one work. */
export type Turn = {
  callsPerSecond: number;
  /** CPU time of all the gateway's processes for a call. */
  cpuUsPerCall: number;
  /** Mean number of calls in a request to a validator. */
  arrayLength: number;
  /** The most that all its processes have held, each at its own moment. */
  memoryBytes: number;
  /** CPU seconds of each of its processes, by name. */
  processes: Readonly<Record<string, number>>;
  errors: number;
  wrong: number;
  firstProblem: string | undefined;
};

/** All turns of a gateway with so many workers at one work. */
export type Row = {
  work: WorkloadName;
  workers: number;
  callsPerSecond: Spread;
  cpuUsPerCall: Spread;
  arrayLength: Spread;
  memoryBytes: Spread;
  /** Against one worker in the same round: other work on the machine changes over time and slows both alike. */
  againstOne: { callsPerSecond: Spread; cpuPerCall: Spread };
  /** CPU time of each process, as a part of all of them. */
  shares: Readonly<Record<string, number>>;
  errors: number;
  wrong: number;
  problems: readonly string[];
};

/** N workers have to give this part of N times what one gives: 1.8 of 2. */
const partOfIdeal = 0.9;

/** @param ones the turns of one worker at the same work, round by round. */
export function summarizeTurns({
  work,
  workers,
  turns,
  ones,
}: {
  work: WorkloadName;
  workers: number;
  turns: readonly Turn[];
  ones: readonly Turn[];
}): Row {
  const against = (figure: (turn: Turn) => number) =>
    spreadOf(turns.flatMap((turn, round) => (ones[round] ? [figure(turn) / figure(ones[round])] : [])));
  const used = new Map<string, number>();
  for (const { processes } of turns) {
    for (const [name, seconds] of Object.entries(processes)) used.set(name, (used.get(name) ?? 0) + seconds);
  }
  const all = [...used.values()].reduce((sum, seconds) => sum + seconds, 0);
  return {
    work,
    workers,
    callsPerSecond: spreadOf(turns.map((turn) => turn.callsPerSecond)),
    cpuUsPerCall: spreadOf(turns.map((turn) => turn.cpuUsPerCall)),
    arrayLength: spreadOf(turns.map((turn) => turn.arrayLength)),
    memoryBytes: spreadOf(turns.map((turn) => turn.memoryBytes)),
    againstOne: {
      callsPerSecond: against((turn) => turn.callsPerSecond),
      cpuPerCall: against((turn) => turn.cpuUsPerCall),
    },
    shares: Object.fromEntries([...used].map(([name, seconds]) => [name, seconds / all])),
    errors: turns.reduce((sum, turn) => sum + turn.errors, 0),
    wrong: turns.reduce((sum, turn) => sum + turn.wrong, 0),
    problems: turns.flatMap(({ firstProblem }) => (firstProblem === undefined ? [] : [firstProblem])),
  };
}

/**
 * Whether the workers give what they have to: by calls a second where each had a core, else by the CPU time of a call. A
 * worker that needs at most 1.11 times the CPU time (1 / 0.9) would give that part on a core of its own.
 */
export function judge(
  { work, workers, againstOne, errors, wrong }: Row,
  { hasCores }: { hasCores: boolean },
): { passed: boolean; text: string } {
  if (errors + wrong > 0) {
    return { passed: false, text: `${work}, ${workers} workers: ${errors} errors, ${wrong} wrong answers` };
  }
  const goal = hasCores ? workers * partOfIdeal : 1 / partOfIdeal;
  const { median } = hasCores ? againstOne.callsPerSecond : againstOne.cpuPerCall;
  const passed = hasCores ? median >= goal : median <= goal;
  const what = hasCores ? "calls a second" : "CPU time of a call";
  const bound = hasCores ? "at least" : "at most";
  return {
    passed,
    text: `${passed ? "passed" : "missed"}: ${work}, ${workers} workers: ${what} ${median.toFixed(2)} × one worker's (${bound} ${goal.toFixed(2)})`,
  };
}
