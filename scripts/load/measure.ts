import { createRun, type Run } from "./create-run.ts";
import { expectedBetween, type Stage } from "./drive/arrivals.ts";
import type { Clock } from "./drive/clock.ts";
import { startSystemClock } from "./drive/system-clock.ts";
import { createAskGateway, GatewayError } from "./http/ask-gateway.ts";
import { createTarget, type Target } from "./http/target.ts";
import { createTransport, type Transport } from "./http/transport.ts";
import { createRandom } from "./mix/random.ts";
import type { LoadOptions } from "./options.ts";
import { prepareWorld, type World } from "./prepare-world.ts";
import type { Inputs } from "./read-inputs.ts";
import { processUsage, watchSelf } from "./record/self-watch.ts";
import { createProgress } from "./report/progress.ts";
import { createReport, type Report } from "./report/report.ts";

export type EndSignal = "SIGINT" | "SIGTERM";

export type LoadOutput = {
  /** To stdout: the result. */
  print: (text: string) => void;
  /** To stderr: progress and everything else. */
  note: (text: string) => void;
  /** stderr is a terminal, so that a line can be written over. */
  isTerminal: boolean;
};

/** How long requests in flight may be answered after Ctrl-C. */
const endWithinMs = 2_000;
const seedRange = 0x7fff_ffff;

type Measured = { report: Report } | { endedBefore: EndSignal };

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
  const seed = options.seed ?? 1 + Math.floor(Math.random() * seedRange);
  const random = createRandom(seed);
  const target = createTarget({ url: options.url, key: inputs.key, ca: inputs.ca });
  const gateway = createAskGateway(target);
  const clock = await startSystemClock();
  const { connections, timeoutMs } = options;
  const transport = createTransport({ ...target, connections, timeoutMs, clock });
  try {
    const preparing = prepareWorld({
      ...{
        inputs,
        ask: gateway.ask,
        timeoutMs: options.timeoutMs,
        random,
        now: clock.now,
        sleep: clock.sleep,
      },
      say: (text) => output.note(`${text}\n`),
    });
    const world = await Promise.race([preparing, ended]);
    if (typeof world === "string") {
      preparing.catch(() => {});
      return { endedBefore: world };
    }
    return await load({ options, inputs, output, ended, seed, random, target, transport, clock, world });
  } finally {
    transport.close();
    gateway.close();
    await clock.stop();
  }
}

async function load({
  options,
  inputs,
  output,
  ended,
  seed,
  random,
  target,
  transport,
  clock,
  world,
}: {
  options: LoadOptions;
  inputs: Inputs;
  output: LoadOutput;
  ended: Promise<EndSignal>;
  seed: number;
  random: () => number;
  target: Target;
  transport: Transport;
  clock: Clock;
  world: World;
}): Promise<Measured> {
  const { stages, arrivals, connections, timeoutMs, warmupMs, limits } = options;
  const { mix, mixFile, key } = inputs;
  const { senders, recentBlocks } = world;
  let endedBy: EndSignal | null = null;
  const hasEnded = () => endedBy !== null;
  const createNext = (plan: readonly Stage[]) =>
    createRun({
      stages: plan,
      options,
      inputs,
      world,
      transport,
      clock,
      random,
      ended,
      hasEnded,
    });
  const run = createNext(stages);
  mustHaveItems(run, inputs);
  const warmup = createNext(warmupOf(stages, warmupMs));
  void ended.then((signal) => {
    endedBy = signal;
    for (const { driver } of [warmup, run]) driver.stop();
    senders?.abandon();
    setTimeout(transport.close, endWithinMs).unref();
  });
  const stopRefresh = recentBlocks && keepFresh(recentBlocks.refresh, mix.refreshMs, clock);
  if (warmupMs > 0) output.note(`Warming up for ${warmupMs / 1000} s, not counted …\n`);
  await warmup.driver.run();
  if (hasEnded()) {
    stopRefresh?.();
    return { endedBefore: await ended };
  }

  const startedAt = new Date();
  const self = watchSelf({ source: processUsage, now: clock.now, every: clock.every });
  const stopProgress = showProgress({ output, run, stages, transport, clock });
  await run.driver.run();
  stopProgress();
  stopRefresh?.();
  senders?.abandon();
  const durationMs = run.recorder.elapsedMs();
  const recorded = run.recorder.result();
  const report = createReport({
    startedAt,
    durationMs,
    endedBy,
    recorded,
    self: self.stop(),
    leftOut: run.leftOut,
    limits,
    settings: { url: target.url, mixFile, stages, warmupMs, arrivals, connections, timeoutMs, seed },
    redact: (text) => text.replaceAll(key, "[key]"),
  });
  return { report };
}

/**
 * The plan's first rate, for a while before it. In its first second a process compiles itself and opens its
 * connections: at 12 000 requests a second that alone made the p99 of ten seconds 130 ms instead of 10.
 */
function warmupOf([first]: readonly Stage[], durationMs: number): Stage[] {
  if (first === undefined || durationMs === 0) return [];
  return [{ ...first, toPerSecond: first.fromPerSecond, durationMs }];
}

function mustHaveItems({ leftOut }: Run, { mix, mixFile }: Inputs): void {
  if (leftOut.length < mix.items.length) return;
  const names = [...new Set(leftOut.map(({ placeholder }) => `$${placeholder}`))].join(", ");
  throw new GatewayError(
    `No item of ${mixFile} can run: each needs ${names}, and recent blocks have none. Send transactions first, or ` +
      "use another mix.",
  );
}

function keepFresh(refresh: () => Promise<void>, everyMs: number, clock: Clock): () => void {
  let isRefreshing = false;
  return clock.every(everyMs, () => {
    if (isRefreshing) return;
    isRefreshing = true;
    void refresh().finally(() => {
      isRefreshing = false;
    });
  });
}

function showProgress({
  output: { note, isTerminal },
  run: { recorder, dispatcher },
  stages,
  transport,
  clock,
}: {
  output: LoadOutput;
  run: Run;
  stages: readonly Stage[];
  transport: Transport;
  clock: Clock;
}): () => void {
  const progress = createProgress({ write: note, isTerminal });
  const stop = clock.every(1000, () => {
    const second = recorder.lastSecond();
    if (second === undefined) return;
    progress.show({
      elapsedMs: recorder.elapsedMs(),
      wantedPerSecond: expectedBetween(stages, second.fromMs, second.toMs),
      arrivalsPerSecond: second.arrivals,
      p50: second.p50,
      p99: second.p99,
      failed: recorder.failed(),
      inFlight: transport.inFlight(),
      queued: dispatcher.queued(),
    });
  });
  return () => {
    stop();
    progress.end();
  };
}
