import { mkdirSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { checkAnswers } from "../gateway/check-answers.ts";
import { ours, prepareOurs } from "../gateway/contestants/ours.ts";
import { connections, measure } from "../gateway/measure.ts";
import { cpuSeconds, workerNameOf } from "../gateway/process-usage.ts";
import { findPrograms, MissingProgramsError, missingForAll } from "../gateway/programs.ts";
import { createRig, type Rig } from "../gateway/rig.ts";
import { runLoads } from "../gateway/run-wrk.ts";
import { type RunningContestant, startContestant } from "../gateway/start-contestant.ts";
import { type Workload, workloads } from "../gateway/workloads.ts";
import { type Row, summarizeTurns, type Turn } from "./judge.ts";
import type { WorkersOptions } from "./options.ts";

export type WorkersResult = {
  machine: {
    cpu: string;
    cores: number;
    proxyCores: readonly number[];
    loadCores: readonly number[];
    /** Each worker had a core, and the load as many. */
    hasCores: boolean;
  };
  rounds: number;
  seconds: number;
  /** Of the load, for each worker: calls that are under way in one process go to a validator together. */
  connectionsPerWorker: number;
  rows: readonly Row[];
};

type Gateway = RunningContestant & { workers: number };

const warmUpSecondsMax = 2;

/**
 * Runs gateways with different numbers of workers in turns (A B A B …), all of them up throughout, and sums up.
 * @throws MissingProgramsError, WrongAnswerError; when `signal` aborts, whatever was under way fails.
 */
export async function runWorkersBench({
  options: { counts, workloads: names, rounds, seconds },
  env,
  say,
  signal,
}: {
  options: Omit<WorkersOptions, "json">;
  env: Readonly<Record<string, string | undefined>>;
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<WorkersResult> {
  const programs = await findPrograms({ contestants: [ours], path: env["PATH"] });
  const problems = missingForAll(programs);
  if (problems.length > 0) throw new MissingProgramsError(problems);
  const most = Math.max(...counts);
  const rig = await createRig({ programs: programs.found, env, proxyCores: most });
  const stop = () => void rig.stop();
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    const hasCores = rig.cores.proxy.length === most;
    // One process of wrk loads one core.
    const loads = hasCores ? most : 1;
    const gateways = await startGateways({ rig, counts, say });
    const chosen = workloads.filter(({ name }) => names.includes(name));
    let runs = 0;
    const nextRun = () => {
      runs += loads + 1;
      return runs;
    };
    say("warming up");
    for (const work of chosen) {
      for (const { url, workers } of gateways) {
        const warmUpSeconds = Math.min(warmUpSecondsMax, seconds);
        const load = {
          work,
          url,
          connections: workers * connections,
          seconds: warmUpSeconds,
          run: nextRun(),
        };
        await runLoads(rig, load, loads);
      }
    }
    const rows: Row[] = [];
    for (const work of chosen) {
      const turns = new Map<number, Turn[]>(counts.map((workers) => [workers, []]));
      for (let round = 1; round <= rounds; round += 1) {
        for (const gateway of gateways) {
          const turn = await takeTurn({ rig, gateway, work, seconds, run: nextRun(), loads });
          turns.get(gateway.workers)?.push(turn);
          const { callsPerSecond, cpuUsPerCall } = turn;
          say(
            `round ${round} of ${rounds}, ${work.name}, ${countText(gateway.workers)}: ` +
              `${Math.round(callsPerSecond)} calls/s, ${cpuUsPerCall.toFixed(1)} µs of CPU a call`,
          );
        }
      }
      for (const [workers, own] of turns) {
        rows.push(summarizeTurns({ work: work.name, workers, turns: own, ones: turns.get(1) ?? [] }));
      }
    }
    const { proxy: proxyCores, load: loadCores } = rig.cores;
    const cpu = cpus()[0]?.model ?? "unknown";
    const machine = { cpu, cores: cpus().length, proxyCores, loadCores, hasCores };
    return { machine, rounds, seconds, connectionsPerWorker: connections, rows };
  } finally {
    signal.removeEventListener("abort", stop);
    await rig.stop();
  }
}

async function startGateways({
  rig,
  counts,
  say,
}: {
  rig: Rig;
  counts: readonly number[];
  say: (line: string) => void;
}): Promise<Gateway[]> {
  const gateways: Gateway[] = [];
  for (const [index, workers] of counts.entries()) {
    const started = await startContestant({
      contestant: ours,
      rig,
      prepare(setup) {
        const folder = join(setup.folder, `workers-${workers}`);
        mkdirSync(folder);
        // A Redis database of its own: what one gateway has charged a key would be missing in the next one's check.
        const { env, ...command } = prepareOurs({ ...setup, folder, redisUrl: `${setup.redisUrl}/${index}` });
        return { ...command, env: { ...env, GATEWAY_WORKERS: String(workers) } };
      },
    });
    const name = countText(workers);
    const { url } = started;
    await checkAnswers({ name, url, keepsLimits: true, workloads, chain: rig.validators.chain });
    say(`${name}: answers rightly, refuses wrong keys and keeps limits`);
    gateways.push({ ...started, workers });
  }
  return gateways;
}

async function takeTurn({
  rig,
  gateway,
  work,
  seconds,
  run,
  loads,
}: {
  rig: Rig;
  gateway: Gateway;
  work: Workload;
  seconds: number;
  run: number;
  loads: number;
}): Promise<Turn> {
  const processes = gateway.pids().map((pid) => ({ pid, before: cpuSeconds([pid]) }));
  const open = gateway.workers * connections;
  const measured = await measure({ rig, running: gateway, work, seconds, run, loads, connections: open });
  const used = processes.map(({ pid, before }): [string, number] => [
    workerNameOf(pid) ?? (gateway.workers === 1 ? "gateway" : "primary"),
    cpuSeconds([pid]) - before,
  ]);
  const { requestsPerSecond, requestsPerCpuSecond, arrayLength, peakMemoryBytes, errors, wrong } = measured;
  return {
    callsPerSecond: requestsPerSecond * work.callsPerRequest,
    arrayLength,
    memoryBytes: peakMemoryBytes,
    cpuUsPerCall: 1e6 / (requestsPerCpuSecond * work.callsPerRequest),
    processes: Object.fromEntries(used),
    errors,
    wrong: wrong.wrong,
    firstProblem: wrong.firstProblem,
  };
}

function countText(workers: number): string {
  return workers === 1 ? "one worker" : `${workers} workers`;
}
