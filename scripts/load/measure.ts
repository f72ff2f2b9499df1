import { expectedBetween } from "./drive/arrivals.ts";
import type { EndedBy, EndSignal, Fleet, FleetResult } from "./fleet.ts";
import { createLocalFleet } from "./local-fleet.ts";
import type { LoadOptions } from "./options.ts";
import { clientsAt, type Plan } from "./plan/plan.ts";
import { createProcessFleet } from "./processes/process-fleet.ts";
import type { Inputs } from "./read-inputs.ts";
import { createProgress } from "./report/progress.ts";
import { createReport, type Report } from "./report/report.ts";
import { createSetup, type RunSetup } from "./run-setup.ts";
import { findAbort } from "./thresholds/judge-thresholds.ts";

export type LoadOutput = {
  /** To stdout: the result. */
  print: (text: string) => void;
  /** To stderr: progress and everything else. */
  note: (text: string) => void;
  /** stderr is a terminal, so that a line can be written over. */
  isTerminal: boolean;
};

type Measured = { report: Report } | { endedBefore: EndSignal };

const lookEveryMs = 1_000;

/**
 * Prepares, runs the plan and gives the report.
 *
 * @throws GatewayError where the gateway cannot be used; what fails once the load has begun is counted instead.
 */
export async function measure({
  options,
  inputs,
  output,
  ended,
}: {
  options: LoadOptions;
  inputs: Inputs;
  output: LoadOutput;
  ended: Promise<EndSignal>;
}): Promise<Measured> {
  const setup = createSetup(options, inputs);
  const say = (text: string) => output.note(`${text}\n`);
  if (setup.warmupMs > 0) say(`Warming up for ${setup.warmupMs / 1000} s, not counted …`);
  const fleet = await createFleet({
    setup,
    say,
    processes: options.processes,
    thresholds: inputs.thresholds,
  });
  try {
    const preparing = fleet.prepare();
    const signal = await Promise.race([preparing, ended]);
    if (typeof signal === "string") {
      preparing.catch(() => {});
      fleet.end();
      return { endedBefore: signal };
    }
    return { report: await run({ fleet, setup, inputs, output, ended }) };
  } finally {
    await fleet.close();
  }
}

async function createFleet({
  setup,
  say,
  processes,
  thresholds,
}: {
  setup: RunSetup;
  say: (text: string) => void;
  processes: number;
  thresholds: Inputs["thresholds"];
}): Promise<Fleet> {
  if (processes === 1) return createLocalFleet({ setup, say });
  const wantsTallies = thresholds.some(({ abortOnFail }) => abortOnFail);
  return createProcessFleet({ setup, processes, wantsTallies, say });
}

async function run({
  fleet,
  setup,
  inputs: { thresholds },
  output,
  ended,
}: {
  fleet: Fleet;
  setup: RunSetup;
  inputs: Inputs;
  output: LoadOutput;
  ended: Promise<EndSignal>;
}): Promise<Report> {
  const { plan, key } = setup;
  let endedBy: EndedBy | null = null;
  const end = (by: EndedBy) => {
    endedBy ??= by;
    fleet.end();
  };
  void ended.then(end);
  const startedAt = new Date();
  const progress = createProgress({ write: output.note, isTerminal: output.isTerminal });
  const looking = setInterval(() => {
    const figures = fleet.figures();
    if (endedBy === null && figures !== undefined && findAbort(thresholds, figures) !== undefined)
      end("threshold");
    showProgress({ fleet, plan, progress });
  }, lookEveryMs);
  let result: FleetResult;
  try {
    result = await fleet.run();
  } finally {
    clearInterval(looking);
    progress.end();
  }
  return createReport({
    ...{ startedAt, setup, result, thresholds },
    endedBy: result.lost.length > 0 ? "lost process" : endedBy,
    redact: (text) => text.replaceAll(key, "[key]"),
  });
}

function showProgress({
  fleet,
  plan,
  progress,
}: {
  fleet: Fleet;
  plan: Plan;
  progress: ReturnType<typeof createProgress>;
}): void {
  const look = fleet.look();
  if (look === undefined) return;
  const { second, ...now } = look;
  const { fromMs, toMs, arrivals, p50, p99 } = second;
  progress.show({
    ...{ elapsedMs: toMs, arrivalsPerSecond: (arrivals * 1000) / (toMs - fromMs), p50, p99, ...now },
    wanted:
      plan.kind === "rate"
        ? { perSecond: expectedBetween(plan.stages, fromMs, toMs) }
        : { clients: clientsAt(plan.stages, toMs - 1) },
  });
}
