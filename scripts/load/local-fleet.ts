import { createRun, type Run } from "./create-run.ts";
import type { Clock } from "./drive/clock.ts";
import { startSystemClock } from "./drive/system-clock.ts";
import type { Fleet, LeftOut } from "./fleet.ts";
import { createAskGateway, GatewayError } from "./http/ask-gateway.ts";
import { createTarget } from "./http/target.ts";
import { createTransport } from "./http/transport.ts";
import { createRandom } from "./mix/random.ts";
import { type Sends, settleSenders } from "./mix/settle-senders.ts";
import { type Plan, warmupOf } from "./plan/plan.ts";
import { prepareWorld, type World } from "./prepare-world.ts";
import type { RecordedPart, Recorder } from "./record/recorder.ts";
import { processUsage, watchSelf } from "./record/self-watch.ts";
import type { RunSetup } from "./run-setup.ts";

/** How long requests in flight may be answered once the run has been ended early. */
const endWithinMs = 2_000;

/** This process as one that runs a plan, or a part of it; `recorder` and `part` are for those that add several. */
export type LocalFleet = Fleet & {
  warmUp(): Promise<void>;
  prepareOnly(): Promise<void>;
  recorder(): Recorder;
  part(): RecordedPart;
  leftOut(): LeftOut;
};

export async function createLocalFleet({
  setup,
  say,
}: {
  setup: RunSetup;
  say: (text: string) => void;
}): Promise<LocalFleet> {
  const { mix, plan, timeoutMs, connections, seed } = setup;
  const random = createRandom(seed);
  const target = createTarget({ url: new URL(setup.url), key: setup.key, ca: setup.ca });
  const gateway = createAskGateway(target);
  const clock = await startSystemClock();
  const transport = createTransport({ ...target, connections, timeoutMs, clock });
  let hasEnded = false;
  let endNow: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    endNow = resolve;
  });
  let runs: { run: Run; warmup: Run } | undefined;
  let abandonSenders: () => void = () => {};
  let settle: () => Promise<Sends | undefined> = async () => undefined;
  let stopRefresh: () => void = () => {};

  async function prepareOnly(): Promise<void> {
    const { now, sleep } = clock;
    const world = await prepareWorld({ setup, ask: gateway.ask, timeoutMs, random, now, sleep, say });
    const create = (of: Plan) =>
      createRun({ plan: of, setup, world, transport, clock, random, ended, hasEnded: () => hasEnded });
    runs = { run: create(plan), warmup: create(warmupOf(plan, setup.warmupMs)) };
    mustHaveItems(runs.run, setup);
    settle = () => settleWorld(world);
    abandonSenders = () => world.senders?.abandon();
    if (world.recentBlocks !== undefined)
      stopRefresh = keepFresh(world.recentBlocks.refresh, mix.refreshMs, clock);
  }

  async function settleWorld({ senders, chainId }: World): Promise<Sends | undefined> {
    if (senders === undefined || mix.senders === undefined) return undefined;
    const { receiptTimeoutMs: withinMs, gasPriceWei } = mix.senders;
    const { senders: standing, firstNonces, fates } = senders.standing();
    try {
      const { counts, filled, stuck } = await settleSenders({
        ...{ ask: gateway.ask, senders: standing, withinMs, now: clock.now, sleep: clock.sleep },
        transfer: { gasPriceWei: BigInt(gasPriceWei), chainId },
        isOver: () => hasEnded,
      });
      const landed = counts.reduce((sum, count, index) => sum + count - (firstNonces[index] ?? 0), 0);
      return { senders: standing.length, ...fates, landed, filled, stuck };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // A key whose limit is used up cannot ask: the figures of the run are worth more than this one.
      say(`What became of the transactions cannot be asked: ${error.message}`);
      return undefined;
    }
  }

  const need = () => {
    if (runs === undefined) throw new Error("the fleet was not prepared");
    return runs;
  };

  const fleet: LocalFleet = {
    prepareOnly,
    warmUp: () => need().warmup.driver.run(),
    async prepare() {
      await prepareOnly();
      await need().warmup.driver.run();
    },
    async run() {
      const { run } = need();
      const self = watchSelf({ source: processUsage, now: clock.now, every: clock.every });
      await run.driver.run();
      stopRefresh();
      const durationMs = run.recorder.elapsedMs();
      const used = self.stop();
      const sends = await settle();
      abandonSenders();
      return {
        recorded: run.recorder.result(),
        figures: { ...run.recorder.figures(sends?.stuck), elapsedMs: durationMs },
        durationMs,
        sends,
        self: used,
        leftOut: run.leftOut,
        lost: [],
      };
    },
    look() {
      const { recorder, dispatcher } = need().run;
      const second = recorder.lastSecond();
      if (second === undefined) return undefined;
      return {
        second,
        failed: recorder.failed(),
        inFlight: transport.inFlight(),
        queued: dispatcher.queued(),
      };
    },
    figures: () => runs?.run.recorder.figures(),
    recorder: () => need().run.recorder,
    part: () => need().run.recorder.part(),
    leftOut: () => need().run.leftOut,
    end() {
      if (hasEnded) return;
      hasEnded = true;
      endNow();
      if (runs !== undefined) for (const { driver } of [runs.warmup, runs.run]) driver.stop();
      abandonSenders();
      setTimeout(transport.close, endWithinMs).unref();
    },
    async close() {
      stopRefresh();
      transport.close();
      gateway.close();
      await clock.stop();
    },
  };
  return fleet;
}

function mustHaveItems({ leftOut }: Run, { mix, mixFile }: RunSetup): void {
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
