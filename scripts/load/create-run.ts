import { createArrivals, planMs, type Stage } from "./drive/arrivals.ts";
import type { Clock } from "./drive/clock.ts";
import { createDispatcher, type Dispatcher } from "./drive/dispatcher.ts";
import { createDriver, type Driver } from "./drive/driver.ts";
import type { Transport } from "./http/transport.ts";
import { compileMix } from "./mix/compile-mix.ts";
import { createSendTransaction, type SendTransaction } from "./mix/send-transaction.ts";
import type { LoadOptions } from "./options.ts";
import type { World } from "./prepare-world.ts";
import type { Inputs } from "./read-inputs.ts";
import { createRecorder, type Recorder, slicesMax } from "./record/recorder.ts";

/** The most scripts that have begun and not ended: it bounds everything that can wait, in flight or not. */
const scriptsRunningMax = 100_000;

export type Run = {
  driver: Driver;
  recorder: Recorder;
  dispatcher: Dispatcher;
  leftOut: readonly { item: string; placeholder: string }[];
};

/** Wires a plan, a mix and a recorder to connections. The warm-up and the measurement are a run each. */
export function createRun({
  stages,
  options,
  inputs,
  world,
  transport,
  clock,
  random,
  ended,
  hasEnded,
}: {
  stages: readonly Stage[];
  options: LoadOptions;
  inputs: Inputs;
  world: World;
  transport: Transport;
  clock: Clock;
  random: () => number;
  /** Resolves when the run is ended early. */
  ended: Promise<unknown>;
  hasEnded: () => boolean;
}): Run {
  const { timeoutMs, arrivals: kind } = options;
  const { now } = clock;
  const recorder = createRecorder({
    now,
    timeoutMs,
    sliceMs: sliceMsFor({ stages, timeoutMs, inputs }),
    waiting: () => ({ inFlight: transport.inFlight(), queued: dispatcher.queued() }),
  });
  const dispatcher = createDispatcher({ transport, recorder, now, timeoutMs });
  const sendTransaction = createSends({
    inputs,
    world,
    dispatcher,
    recorder,
    hasEnded,
    clock: { now, sleep: (lengthMs) => Promise.race([clock.sleep(lengthMs), ended.then(() => {})]) },
  });
  const { pick, leftOut } = compileMix({
    mix: inputs.mix,
    scope: world.scope,
    dispatcher,
    recorder,
    sendTransaction,
    random,
    now,
  });
  const driver = createDriver({
    arrivals: createArrivals({ stages, kind, random }),
    pick,
    dispatcher,
    recorder,
    clock,
    scriptsRunningMax,
    onSweep: () => world.senders?.expire(),
  });
  return { driver, recorder, dispatcher, leftOut };
}

/** Whole seconds, so that the plan and its last answers fit into the plots. */
function sliceMsFor({
  stages,
  timeoutMs,
  inputs: {
    mix: { senders },
  },
}: {
  stages: readonly Stage[];
  timeoutMs: number;
  inputs: Inputs;
}): number {
  const longestMs = planMs(stages) + 2 * timeoutMs + (senders?.receiptTimeoutMs ?? 0);
  return Math.ceil(longestMs / slicesMax / 1000) * 1000;
}

function createSends({
  inputs: { mix },
  world: { senders, chainId },
  dispatcher,
  recorder,
  clock,
  hasEnded,
}: {
  inputs: Inputs;
  world: World;
  dispatcher: Dispatcher;
  recorder: Recorder;
  clock: Pick<Clock, "now" | "sleep">;
  hasEnded: () => boolean;
}): SendTransaction {
  // A mix that sends without senders was refused when it was read.
  if (senders === undefined || mix.senders === undefined) return async () => "no value";
  const { gasPriceWei, receiptTimeoutMs, receiptPollMs } = mix.senders;
  return createSendTransaction({
    senders,
    dispatcher,
    recorder,
    clock,
    chainId,
    receiptTimeoutMs,
    receiptPollMs,
    hasEnded,
    gasPriceWei: BigInt(gasPriceWei),
  });
}
