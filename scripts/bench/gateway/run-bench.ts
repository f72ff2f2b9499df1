import { cpus } from "node:os";
import { checkAnswers } from "./check-answers.ts";
import type { Contestant, ContestantName } from "./contestant.ts";
import { haproxy } from "./contestants/haproxy.ts";
import { httpProxy } from "./contestants/http-proxy.ts";
import { nginx } from "./contestants/nginx.ts";
import { nodeUndici } from "./contestants/node-undici.ts";
import { ours } from "./contestants/ours.ts";
import { createTurns } from "./create-turns.ts";
import { connections } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { findPrograms, MissingProgramsError, missingForAll, type Programs, versionOf } from "./programs.ts";
import { createRig, type Rig } from "./rig.ts";
import { runWrk } from "./run-wrk.ts";
import { type RunningContestant, startContestant } from "./start-contestant.ts";
import type { LatencyRow, WorkloadRow } from "./summarize.ts";
import { type Workload, workloads } from "./workloads.ts";

export type BenchResult = {
  machine: { cpu: string; cores: number; proxyCores: readonly number[]; loadCores: readonly number[] };
  rounds: number;
  seconds: number;
  connections: number;
  contestants: readonly { name: ContestantName; title: string; version: string }[];
  skipped: readonly string[];
  works: readonly WorkloadRow[];
  latency: readonly LatencyRow[];
};

const warmUpSecondsMax = 2;
/** In the order in which they take turns. nginx stands first, because the others are compared with it. */
const contestants: readonly Contestant[] = [nginx, haproxy, httpProxy, nodeUndici, ours];

/**
 * Runs the contestants in turns (A B C A B C …) and sums up.
 * @throws MissingProgramsError, WrongAnswerError; when `signal` aborts, whatever was under way fails.
 */
export async function runBench({
  options,
  env,
  say,
  signal,
}: {
  options: BenchOptions;
  env: Readonly<Record<string, string | undefined>>;
  /** Called with each step, one line at a time. */
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<BenchResult> {
  const wanted = contestants.filter(({ name }) => options.only.includes(name));
  const programs = await findPrograms({ contestants: wanted, path: env["PATH"] });
  const problems = missingForAll(programs);
  if (problems.length > 0) throw new MissingProgramsError(problems);
  const skipped = wanted.flatMap((contestant) => whyNot(contestant, programs));
  const present = wanted.filter((contestant) => whyNot(contestant, programs).length === 0);
  for (const reason of skipped) say(`skipped: ${reason}`);
  if (present.length === 0) throw new MissingProgramsError(skipped);

  const rig = await createRig({ programs: programs.found, env });
  const stop = () => void rig.stop();
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    const chosen = workloads.filter(({ name }) => options.workloads.includes(name));
    const running = await startAll({ present, rig, say });
    const turns = createTurns({ rig, seconds: options.seconds, say });
    await warmUp({
      running,
      rig,
      chosen,
      say,
      nextRun: turns.nextRun,
      seconds: Math.min(warmUpSecondsMax, options.seconds),
    });
    for (let round = 1; round <= options.rounds; round += 1) {
      const label = `round ${round} of ${options.rounds}`;
      for (const work of chosen) await turns.work(running, work, label);
      if (options.workloads.includes("latency")) await turns.latency(running, label);
    }
    return {
      machine: {
        cpu: cpus()[0]?.model ?? "unknown",
        cores: cpus().length,
        proxyCores: rig.cores.proxy,
        loadCores: rig.cores.load,
      },
      rounds: options.rounds,
      seconds: options.seconds,
      connections,
      contestants: await Promise.all(
        present.map(async (one) => {
          const { name, title } = one;
          return { name, title, version: await versionOf(one, programs.found) };
        }),
      ),
      skipped,
      ...turns.summary(),
    };
  } finally {
    signal.removeEventListener("abort", stop);
    await rig.stop();
  }
}

function whyNot({ name, program }: Contestant, { missing }: Programs): string[] {
  const lacking = missing.find((one) => one.name === program?.name);
  return lacking === undefined ? [] : [`${name}: ${lacking.advice}`];
}

/** All of them stay up: an idle one uses nothing, and none is measured colder than another. */
async function startAll({
  present,
  rig,
  say,
}: {
  present: readonly Contestant[];
  rig: Rig;
  say: (line: string) => void;
}): Promise<RunningContestant[]> {
  const running: RunningContestant[] = [];
  for (const contestant of present) {
    const started = await startContestant({ contestant, rig });
    const { name, keepsLimits } = contestant;
    await checkAnswers({ name, url: started.url, keepsLimits, workloads, chain: rig.validators.chain });
    say(
      `${name} answers rightly${keepsLimits ? ", refuses wrong keys and keeps limits" : " and refuses wrong keys"}`,
    );
    running.push(started);
  }
  return running;
}

/** Long enough for compilers to see all the code, so that rounds are comparable. */
async function warmUp({
  running,
  rig,
  chosen,
  seconds,
  say,
  nextRun,
}: {
  running: readonly RunningContestant[];
  rig: Rig;
  chosen: readonly Workload[];
  seconds: number;
  say: (line: string) => void;
  nextRun: () => number;
}): Promise<void> {
  say("warming up");
  for (const work of chosen) {
    for (const { url } of running) {
      await runWrk(rig, { work, url, connections, seconds, run: nextRun() });
    }
  }
}
