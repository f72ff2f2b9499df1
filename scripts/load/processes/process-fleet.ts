import type { Fleet, FleetResult, Look } from "../fleet.ts";
import { GatewayError } from "../http/ask-gateway.ts";
import { sumSends } from "../mix/settle-senders.ts";
import { figuresOf, sumParts } from "../record/recorder.ts";
import type { SelfUse } from "../record/self-watch.ts";
import { sumSeries } from "../record/series.ts";
import { sumTallies } from "../record/tallies.ts";
import { type RunSetup, splitSetup } from "../run-setup.ts";
import { type PartProcess, startPartProcess } from "./part-process.ts";

/** All parts have heard of the beginning by then. */
const beginAfterMs = 500;
/** A part that has not told its figures so long after the end is lost. */
const resultWithinMs = 30_000;

/**
 * Several processes that run a plan as one. They begin at the same moment, each with its share, and their histograms are
 * added bucket by bucket. A part whose process ends early is told, and ends the run: what is missing cannot be guessed.
 */
export function createProcessFleet({
  setup,
  processes: of,
  wantsTallies,
  say,
}: {
  setup: RunSetup;
  processes: number;
  /** The figures are asked for while the run goes on. */
  wantsTallies: boolean;
  say: (text: string) => void;
}): Fleet {
  const parts = splitSetup(setup, of).map((part) => ({ setup: part, process: startPartProcess({ say }) }));
  const processes = parts.map((part) => part.process);
  let beganAtMs = 0;
  let giveUp: NodeJS.Timeout | undefined;
  const end = () => {
    for (const part of processes) part.say({ kind: "end" });
    giveUp ??= setTimeout(() => {
      for (const part of processes) part.kill();
    }, resultWithinMs + setup.timeoutMs);
  };
  const lostEarly = async (part: PartProcess, index: number) =>
    new GatewayError(`Process ${index + 1} of ${of} ended while it was prepared: ${await part.ended}.`);

  async function prepareOne(
    { setup: of_, process: part }: (typeof parts)[number],
    index: number,
  ): Promise<void> {
    if (!(await part.ready)) throw await lostEarly(part, index);
    part.say({ kind: "prepare", setup: of_, wantsTallies });
    const answer = await part.hear("prepared", "refused");
    if (answer === undefined) throw await lostEarly(part, index);
    if (answer.kind === "refused") throw new GatewayError(answer.reason);
  }

  return {
    async prepare() {
      // One after the other: they fund their senders from one account, whose nonces go on.
      for (const [index, part] of parts.entries()) await prepareOne(part, index);
      await Promise.all(
        processes.map(async (part, index) => {
          part.say({ kind: "warm up" });
          if ((await part.hear("warm")) === undefined) throw await lostEarly(part, index);
        }),
      );
    },
    async run(): Promise<FleetResult> {
      beganAtMs = Date.now() + beginAfterMs;
      const lost: string[] = [];
      const results = await Promise.all(
        processes.map(async (part, index) => {
          const result = part.hear("result");
          part.say({ kind: "begin", atMs: beganAtMs });
          const told = await result;
          if (told === undefined) {
            const name = `Process ${index + 1} of ${of} (${part.pid})`;
            lost.push(`${name} ended early by ${await part.ended}: its part of the figures is missing.`);
            end();
          }
          return told;
        }),
      );
      clearTimeout(giveUp);
      const told = results.filter((result) => result !== undefined);
      const sends = sumSends(told.map((result) => result.sends));
      const durationMs = Math.max(0, ...told.map((result) => result.durationMs));
      return {
        ...sumParts(
          told.map(({ part }) => part),
          { elapsedMs: durationMs, stuck: sends?.stuck },
        ),
        durationMs,
        sends,
        self: sumSelf(told.map(({ self }) => self)),
        leftOut: told[0]?.leftOut ?? [],
        lost,
      };
    },
    look(): Look | undefined {
      const looks = processes.flatMap((part) => part.look() ?? []);
      const sum = (read: (look: (typeof looks)[number]) => number) =>
        looks.reduce((total, look) => total + read(look), 0);
      // Looks come a moment apart: those of the same second are added.
      const lastFromMs = Math.min(...looks.map(({ second }) => second.fromMs));
      const same = looks.filter(({ second }) => second.fromMs === lastFromMs);
      const [second] = sumSeries(same.map((look) => [look.second]));
      if (second === undefined || same.length < of) return undefined;
      return {
        second,
        failed: sum(({ failed }) => failed),
        inFlight: sum(({ inFlight }) => inFlight),
        queued: sum(({ queued }) => queued),
      };
    },
    figures() {
      const tallies = processes.flatMap((part) => part.look()?.tallies ?? []);
      if (tallies.length < of) return undefined;
      return figuresOf({ tallies: sumTallies(tallies), elapsedMs: Date.now() - beganAtMs, stuck: undefined });
    },
    end,
    async close() {
      clearTimeout(giveUp);
      for (const part of processes) part.kill();
      await Promise.all(processes.map((part) => part.ended));
    },
  };
}

/** Processors add up; the busiest event loop is the one that limits the run. */
function sumSelf(all: readonly SelfUse[]): SelfUse {
  const most = (read: (self: SelfUse) => number) => Math.max(0, ...all.map(read));
  return {
    seconds: most(({ seconds }) => seconds),
    busySeconds: most(({ busySeconds }) => busySeconds),
    eventLoopBusyMax: most(({ eventLoopBusyMax }) => eventLoopBusyMax),
    cpuCoresMean: all.reduce((sum, { cpuCoresMean }) => sum + cpuCoresMean, 0),
    cpuCoresMax: all.reduce((sum, { cpuCoresMax }) => sum + cpuCoresMax, 0),
  };
}
