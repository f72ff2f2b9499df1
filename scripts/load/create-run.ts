import { createArrivals } from "./drive/arrivals.ts";
import { createClientDriver } from "./drive/client-driver.ts";
import type { Clock } from "./drive/clock.ts";
import { createDispatcher, type Dispatcher } from "./drive/dispatcher.ts";
import { createDriver, type Driver } from "./drive/driver.ts";
import type { Transport } from "./http/transport.ts";
import { compileMix } from "./mix/compile-mix.ts";
import { createSendTransaction, type SendTransaction } from "./mix/send-transaction.ts";
import { lengthOf, type Plan } from "./plan/plan.ts";
import type { World } from "./prepare-world.ts";
import { createRecorder, type Recorder, slicesMax } from "./record/recorder.ts";
import type { RunSetup } from "./run-setup.ts";

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
  plan,
  setup,
  world,
  transport,
  clock,
  random,
  ended,
  hasEnded,
}: {
  /** That of the setup, or its warm-up. */
  plan: Plan;
  setup: RunSetup;
  world: World;
  transport: Transport;
  clock: Clock;
  random: () => number;
  /** Resolves when the run is ended early. */
  ended: Promise<unknown>;
  hasEnded: () => boolean;
}): Run {
  const { timeoutMs, arrivals: kind, mix, part } = setup;
  const { now } = clock;
  const recorder = createRecorder({
    now,
    timeoutMs,
    sliceMs: sliceMsFor(setup),
    isPart: part.of > 1,
    waiting: () => ({ inFlight: transport.inFlight(), queued: dispatcher.queued() }),
  });
  const dispatcher = createDispatcher({ transport, recorder, now, timeoutMs });
  const sendTransaction = createSends({
    setup,
    world,
    dispatcher,
    recorder,
    hasEnded,
    clock: { now, sleep: (lengthMs) => Promise.race([clock.sleep(lengthMs), ended.then(() => {})]) },
  });
  const { pick, leftOut } = compileMix({
    mix,
    scope: world.scope,
    dispatcher,
    recorder,
    sendTransaction,
    random,
    now,
  });
  const common = { pick, dispatcher, recorder, clock, onSweep: () => world.senders?.expire() };
  const driver =
    plan.kind === "clients"
      ? createClientDriver({ ...common, plan, lengthMs: lengthOf(plan), part })
      : createDriver({
          ...common,
          arrivals: createArrivals({ stages: plan.stages, kind, random, part }),
          scriptsRunningMax: Math.ceil(scriptsRunningMax / part.of),
        });
  return { driver, recorder, dispatcher, leftOut };
}

/** Whole seconds, so that the plan and its last answers fit into the plots. */
function sliceMsFor({ plan, timeoutMs, mix: { senders } }: RunSetup): number {
  const longestMs = lengthOf(plan) + 2 * timeoutMs + (senders?.receiptTimeoutMs ?? 0);
  return Math.ceil(longestMs / slicesMax / 1000) * 1000;
}

function createSends({
  setup: { mix },
  world: { senders, chainId },
  dispatcher,
  recorder,
  clock,
  hasEnded,
}: {
  setup: RunSetup;
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
