import { setTimeout as sleep } from "node:timers/promises";
import type { ContestantName } from "./contestant.ts";
import { type Measurement, measure } from "./measure.ts";
import { type AddedLatency, measureAddedLatency } from "./measure-added-latency.ts";
import type { Rig } from "./rig.ts";
import type { RunningContestant } from "./start-contestant.ts";
import { type LatencyRow, summarizeLatency, summarizeWorkload, type WorkloadRow } from "./summarize.ts";
import { type Workload, workloads } from "./workloads.ts";

/** A pause, so that work left over from one turn does not count for the next. */
const pauseMs = 100;

/** Lets contestants take turns, keeps the measurements, and sums them up in the end. */
export function createTurns({
  rig,
  seconds,
  say,
}: {
  rig: Rig;
  seconds: number;
  say: (line: string) => void;
}) {
  const measured: { contestant: ContestantName; work: Workload; rounds: Measurement[] }[] = [];
  const latencies: { contestant: ContestantName; rounds: AddedLatency[] }[] = [];
  let runs = 0;

  function nextRun(): number {
    runs += 2;
    return runs;
  }

  function roundsOf(contestant: ContestantName, work: Workload): Measurement[] | undefined {
    return measured.find((one) => one.contestant === contestant && one.work === work)?.rounds;
  }

  function keep(contestant: ContestantName, work: Workload, result: Measurement): void {
    const rounds = roundsOf(contestant, work);
    if (rounds === undefined) measured.push({ contestant, work, rounds: [result] });
    else rounds.push(result);
  }

  async function measureOnce(one: RunningContestant, work: Workload): Promise<Measurement> {
    await sleep(pauseMs);
    return measure({ rig, running: one, work, seconds, run: nextRun() });
  }

  return {
    nextRun,

    async work(running: readonly RunningContestant[], work: Workload, label: string): Promise<void> {
      for (const one of running) {
        const { name } = one.contestant;
        const result = await measureOnce(one, work);
        keep(name, work, result);
        const { requestsPerSecond, requestsPerCpuSecond } = result;
        say(
          `${label}, ${work.name}, ${name}: ${Math.round(requestsPerSecond)} requests/s, ` +
            `${Math.round(requestsPerCpuSecond)} a CPU second`,
        );
      }
    },

    async latency(running: readonly RunningContestant[], label: string): Promise<void> {
      const [work] = workloads;
      if (work === undefined) return;
      for (const one of running) {
        const { name } = one.contestant;
        const measuredBefore = roundsOf(name, work)?.at(-1);
        const full = measuredBefore ?? (await measureOnce(one, work));
        const added = await measureAddedLatency({
          rig,
          running: one,
          work,
          seconds,
          run: nextRun(),
          fullRate: full.requestsPerSecond,
        });
        const known = latencies.find(({ contestant }) => contestant === name);
        if (known === undefined) latencies.push({ contestant: name, rounds: [added] });
        else known.rounds.push(added);
        say(
          `${label}, latency, ${name}: ${added.addedP50Ms.toFixed(2)} ms added in the median ` +
            `at ${Math.round(added.requestsPerSecond)} requests/s`,
        );
      }
    },

    summary(): { works: WorkloadRow[]; latency: LatencyRow[] } {
      const rows = measured.map(({ contestant, work, rounds }) => {
        const nginx = roundsOf("nginx", work);
        return summarizeWorkload({ contestant, work: work.name, rounds, nginx });
      });
      return { works: rows, latency: latencies.map((one) => summarizeLatency(one.contestant, one.rounds)) };
    },
  };
}
